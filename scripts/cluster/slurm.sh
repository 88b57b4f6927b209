#!/usr/bin/env bash
# A real Slurm of one node: launch/slurm.sbatch on four ranks with a time limit that is
# too short writes a checkpoint, is queued again, and ends with the bits of a run that was
# never interrupted; once with srun, where PMIx is there, and once with mpirun.
# shellcheck source=scripts/cluster/common.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/common.sh"

need munged=munge slurmctld=slurmctld slurmd=slurmd sbatch=slurm-client
# Slurm's plugin opens libpmix.so by that name, which is in the package for developers.
has_pmix() { compgen -G '/usr/lib/*/pmix2/lib/libpmix.so' >/dev/null; }
has_pmix || (need pmix=libpmix-dev) || true
export SLURM_CONF=$folder/slurm.conf

# The end of the daemons leaves jobs to themselves, so jobs are ended first.
clear_up() {
  [[ -e $SLURM_CONF ]] || return
  timeout 10 scancel --signal=KILL --full --user=root >/dev/null 2>&1
  within 15 no_jobs
  timeout 10 scontrol shutdown >/dev/null 2>&1
}

no_jobs() { [[ -z $(timeout 5 squeue --noheader) ]]; }

free_ports() {
  "$python" -c 'import socket
held = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
print(*(each.getsockname()[1] for each in held))'
}

# --- munge: proves to the daemons who asks ------------------------------------------
host=$(hostname -s)
mkdir -p "$folder"/{munge,state,spool,jobs,tmp}
head -c 128 /dev/urandom >"$folder/munge/key"
chmod 400 "$folder/munge/key"
chown -R munge "$folder/munge"
setpriv --reuid munge --regid munge --clear-groups munged --foreground --force \
  --socket "$folder/munge/socket" --key-file "$folder/munge/key" \
  --pid-file "$folder/munge/pid" --log-file "$folder/munge/log" \
  --seed-file "$folder/munge/seed" >"$folder/munged.log" 2>&1 &
within 15 munge --no-input --socket "$folder/munge/socket" ||
  fail "munged does not answer"

# --- Slurm: eight CPUs are claimed, so that four ranks fit on two cores ---------------
read -r control_port node_port < <(free_ports)
cat >"$SLURM_CONF" <<CONF
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
SlurmdUser=root
SlurmctldPort=$control_port
SlurmdPort=$node_port
# cred_expire is also how long a job that is queued again must wait.
AuthType=auth/munge
AuthInfo=socket=$folder/munge/socket,cred_expire=8
CredType=cred/munge
CommunicationParameters=NoInAddrAny
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
TmpFS=$folder/tmp
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=3,bf_interval=3
SlurmdParameters=config_overrides
ReturnToService=2
KillWait=15
MinJobAge=600
MpiDefault=none
NodeName=$host NodeAddr=127.0.0.1 CPUs=8 State=UNKNOWN
PartitionName=all Nodes=$host Default=YES MaxTime=INFINITE State=UP
CONF
slurmctld -D -f "$SLURM_CONF" &>/dev/null &
slurmd -D -f "$SLURM_CONF" &>/dev/null &
is_idle() { [[ $(timeout 5 sinfo --noheader -o %T) == idle ]]; }
within 30 is_idle || fail "the node of Slurm does not come up"
echo "cluster: $(sinfo --version) is up"

# --- two jobs, at the same time: they sleep more than they work --------------------------
export PYTHONPATH=$root/scripts/cluster
config=$root/scripts/cluster/slow.toml
run_alone 4 "$config" "$folder/whole" --allow-plugins

launch() { # NAME OPTION...: gives the job's number
  "$python" -m pmgt_mpi.launch slurm --name "$1" --ranks 4 --time 00:01:00 \
    --config "$config" --out "$folder/jobs/$1" --write "$folder/jobs/$1.sbatch" \
    "${@:2}" -- --allow-plugins >/dev/null
  # The signal may come up to half a minute earlier than asked: after 10 to 40 s.
  PMGT_PAUSE=0.1 timeout 20 sbatch --parsable --chdir="$folder/jobs" \
    --signal=B:USR1@20 --output="$folder/$1.out" "$folder/jobs/$1.sbatch"
}

field() { timeout 5 scontrol --oneliner show job "$1" | grep -oP "(?<= $2=)\S+"; }
is_over() { [[ $(field "$1" JobState) =~ ^(COMPLETED|FAILED|CANCELLED|TIMEOUT|NODE_FAIL)$ ]]; }

see_through() { # NAME JOB LAUNCHER
  local state restarts interrupted went_on
  within 330 is_over "$2" || fail "job $1 is $(field "$2" JobState) after 330 s"
  state=$(field "$2" JobState) restarts=$(field "$2" Restarts)
  [[ $state == COMPLETED ]] || fail "job $1 ended as $state"
  grep -h '^job ' "$folder/$1.out"
  grep -q "^job $2, start 0: $3.* on 4 ranks" "$folder/$1.out" ||
    fail "job $1 was not started with $3"
  ((restarts > 0)) || fail "job $1 was never queued again"
  interrupted=$(grep -c '^interrupted (SIGUSR1' "$folder/$1.out") || true
  went_on=$(grep -c '^resuming .* from checkpoint' "$folder/$1.out") || true
  # A signal that meets the set-up of a slow machine ends it without a checkpoint.
  ((interrupted > 0 && went_on > 0)) ||
    fail "$restarts restarts, but $interrupted checkpoints, of which $went_on were used"
  see same "$folder/whole" "$folder/jobs/$1"
  echo "cluster: job $1 was queued again $restarts times, and has the bits of one run"
}

with_srun=
if has_pmix; then
  with_srun=$(launch with-srun) # which it finds by itself
else
  echo "cluster: srun is not tested, since there is no libpmix for Slurm"
fi
with_mpirun=$(launch with-mpirun --starter mpirun)
[[ -z $with_srun ]] || see_through with-srun "$with_srun" 'srun --mpi=pmix'
see_through with-mpirun "$with_mpirun" "$mpirun -n 4"
