#!/usr/bin/env bash
# Three hosts, made of network namespaces: launch/hosts.sh runs six ranks over TCP with the
# bits of one host; and where one host's link is slow, its ranks' seconds and the report
# say so.
# shellcheck source=scripts/cluster/common.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/common.sh"

need ip=iproute2 tc=iproute2 unshare=util-linux
prefix=pmgt$$
hosts=(h1 h2 h3)

clear_up() {
  end_marked # a namespace lives as long as a process in it
  local name
  for name in "${hosts[@]}" switch; do
    ip netns del "$prefix-$name" 2>/dev/null
  done
}

inside() { ip netns exec "$prefix-$1" "${@:2}"; }

cycle=(--set network.topology=two-neighbours --set stop.steps=40)
run_alone 6 scripts/cluster/hosts.toml "$folder/one"
run_alone 6 scripts/cluster/hosts.toml "$folder/cycle" "${cycle[@]}"

# --- the network: a bridge in a namespace of its own, so this machine's own is not met --
ip netns add "$prefix-switch" 2>"$folder/netns.log" &&
  inside switch ip link add bridge type bridge 2>>"$folder/netns.log" ||
  not_tested "no network namespaces here: $(tail -n 1 "$folder/netns.log")"
inside switch ip link set bridge up
number=0
for host in "${hosts[@]}"; do
  ip netns add "$prefix-$host"
  inside switch ip link add "to-$host" type veth peer name eth0 netns "$prefix-$host" \
    2>"$folder/netns.log" || not_tested "no veth here: $(tail -n 1 "$folder/netns.log")"
  inside switch ip link set "to-$host" master bridge up
  inside "$host" ip addr add "10.213.7.$((++number))/24" dev eth0
  inside "$host" ip link set eth0 up
  inside "$host" ip link set lo up
  echo "$host slots=2" >>"$folder/hostfile"
done

# In the place of ssh: a command on a host, which has a name of its own.
cat >"$folder/shell" <<SHELL
#!/bin/sh
host=\$1
shift
exec ip netns exec "$prefix-\$host" unshare --uts sh -c \\
  'hostname "\$1"; shift; exec sh -c "\$*"' sh "\$host" "\$@"
SHELL
chmod +x "$folder/shell"
unset PRTE_MCA_rmaps_default_mapping_policy # two slots a host, and no more
export PRTE_MCA_plm=ssh PRTE_MCA_plm_ssh_agent=$folder/shell
export PRTE_MCA_prte_if_include=10.213.7.0/24 OMPI_MCA_btl_tcp_if_include=10.213.7.0/24

on_hosts() { # OUT [OPTION...]: six ranks, from the first host
  PMGT_OUT=$1 patiently timeout --kill-after=5 100 "$folder/shell" h1 "cd '$root' && exec \
    bash launch/hosts.sh '$folder/hostfile' 6 scripts/cluster/hosts.toml ${*:2}" \
    >"$folder/hosts.log" 2>&1 || fail "the run on three hosts failed"
}

on_hosts "$folder/three"
see same "$folder/one" "$folder/three"
see spread "$folder/three"
echo "cluster: six ranks on three hosts have the bits of one host"

# --- placement: on a cycle in random order the agents change places -------------------
for placement in none auto; do
  on_hosts "$folder/$placement" "${cycle[@]}" --set "network.placement=$placement"
  see same "$folder/cycle" "$folder/$placement"
done
see placed "$folder/none" "$folder/auto"

# --- a slow link ---------------------------------------------------------------------
rate=4000000 # bits a second, from the third host
inside h3 tc qdisc add dev eth0 root tbf rate "${rate}bit" burst 16kb latency 2s \
  2>"$folder/tc.log" || not_tested "tc has no tbf here: $(tail -n 1 "$folder/tc.log")"
on_hosts "$folder/slow"
see same "$folder/one" "$folder/slow"
see slow "$folder/three" "$folder/slow" h3 "$rate"
"$python" -m pmgt_mpi.report "$folder/slow" >"$folder/report.log" 2>&1 ||
  fail "there is no report"
see reported "$folder/slow/report/report.html" "$folder/slow" h3
