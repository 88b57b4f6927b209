#!/usr/bin/env bash
# Runs the paper's experiments, draws its figures and writes the tables of its claims.
set -euo pipefail

usage() {
  cat <<'END'
Usage: bash scripts/reproduce.sh [OPTION...]

Runs every config of configs/paper on 20 MPI ranks of this machine, one after the other
(about 5 minutes for a seed on 2 cores), then draws the twelve panels of the paper's
Figures 1 and 2, the same against seconds and bytes, and writes the table of its claims.
Interrupted, it continues where it was when it is started again; what is finished is not
run again.

  --seeds K        seeds 1 … K, for the spread (default 1)
  --out DIR        run folders and results (default runs/paper)
  --weight W       gradients that a round counts as in the weighted cost (default 100)
  --docs           write docs/reproduction.md and its pictures too
  --ranks M        another number of agents
  --configs DIR    other configs of the same names

Covtype is looked for in the folder PMGT_DATA; without it the synthetic half is run. For
the times to mean anything the machine should have nothing else to do.
END
}

refuse() {
  printf 'reproduce.sh: %s\nTry: bash scripts/reproduce.sh --help\n' "$*" >&2
  exit 2
}

# shellcheck source=launch/setup.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/../launch/setup.sh"
tell() { printf 'reproduce: %s\n' "$*"; }
seeds=1 out=$root/runs/paper weight=100 docs= ranks=20 configs=$root/configs/paper
while (($#)); do
  case $1 in
    -h | --help)
      usage
      exit 0
      ;;
    --docs)
      docs=yes
      shift
      continue
      ;;
    --seeds | --out | --weight | --ranks | --configs)
      (($# > 1)) || refuse "$1 needs a value"
      declare "${1#--}=$2"
      shift 2
      ;;
    *) refuse "unknown option '$1'" ;;
  esac
done
for value in "$seeds" "$ranks"; do
  [[ $value =~ ^[1-9][0-9]*$ ]] || refuse "'$value': expected a whole number, 1 or more"
done
[[ $weight =~ ^[0-9]+(\.[0-9]+)?$ ]] || refuse "--weight $weight: expected a number"
[[ -d $configs ]] || refuse "no folder '$configs' (looked from $PWD)"

# shellcheck disable=SC2119 # the arguments of set_up are extras, not this script's
set_up
covtype=covtype.data.xz
problems=(synthetic-r2 synthetic-r300)
if [[ -f ${PMGT_DATA:-$configs}/$covtype || -f $configs/$covtype ]]; then
  problems+=(covtype-r2 covtype-r300 covtype-shuffled-r2 covtype-shuffled-r300)
else
  tell "no $covtype in ${PMGT_DATA:-PMGT_DATA, which is not set}: the Covtype half is" \
    "left out. To get it: PMGT_DATA=DIR $python -m pmgt_mpi.data fetch covtype," \
    "then run this again with the same PMGT_DATA"
fi
for ((seed = 1; seed <= seeds; seed++)); do
  for problem in "${problems[@]}"; do
    folder=$out/$problem/seed-$seed
    if [[ -f $folder/summary.json ]]; then
      tell "$problem, seed $seed: done already"
      continue
    fi
    tell "$problem, seed $seed"
    mkdir -p "$out/$problem"
    code=0
    bash "$root/launch/local.sh" -n "$ranks" "$configs/$problem.toml" \
      --set "run.seed=$seed" --out "$folder" --resume auto || code=$?
    # 3: a method diverged, which is a result.
    if ((code != 0 && code != 3)); then
      tell "$problem, seed $seed ended with exit code $code; start this again to continue" >&2
      exit "$code"
    fi
  done
done
cd "$root"
"$python" scripts/paper draw "$out" --weight "$weight"
[[ -z $docs ]] || "$python" scripts/paper draw "$out" --weight "$weight" --out docs
