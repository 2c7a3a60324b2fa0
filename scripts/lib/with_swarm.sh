#!/bin/sh
# Runs a command with DOCKER_HOST set to an engine of its own that manages a swarm, which it starts
# before and ends after:
#
#   scripts/lib/with_swarm.sh COMMAND [ARGUMENT...]
#
# SWARM_NODES says of how many nodes, one by default: each further one is another engine. The command has
# their addresses in SWARM_HOSTS, separated by spaces; where they cannot be had that is said, and there
# is one. SWARM_ADDRESS is what the nodes reach the manager at, SWARM_NAMESPACE its network namespace.
#
# Each engine has a network namespace of its own, so that its networks, ports and firewall rules are not
# those of the engine beside it, which stays out of the swarm. What it began it ends and takes away.
# The command runs outside of these namespaces: it reaches the engines, and none of their ports. Where no
# such engine can be had, that is said and the command runs without, with SWARM_TESTS=0.
set -eu

own_engine=$(dirname -- "$0")/own_engine.sh
# shellcheck source=scripts/lib/own_engine.sh
. "$own_engine"
nodes=${SWARM_NODES:-1}

fail() {
  printf 'swarm: %s\n' "$*" >&2
  exit 1
}

program=$(command -v dockerd || echo /usr/sbin/dockerd)
missing=$(why_no_engine)
[ -x "$program" ] || missing="dockerd is not installed"
if [ -n "$missing" ]; then
  printf '\n*** NO SWARM, TESTS SKIPPED: %s ***\n' "$missing" >&2
  export SWARM_TESTS=0
  run_command "$@"
  exit
fi

# A bridge in a namespace of its own, which no engine's firewall rules are about.
wires() {
  command -v ip >/dev/null || { echo "it needs ip, of the package iproute2"; return 1; }
  within "$hub" ip link add swarm0 type bridge 2>&1 && within "$hub" ip link set swarm0 up 2>&1
}

# Joins the engine of a node, by its process, to the bridge.
wire() {
  within "$hub" ip link add "node$1" type veth peer name eth0 netns "$2" &&
    within "$hub" ip link set "node$1" master swarm0 up &&
    within "$2" ip address add "10.99.0.$1/24" dev eth0 &&
    within "$2" ip link set eth0 up
}

start_node() { start_engine "node$1" "$program" --insecure-registry 10.99.0.0/24; }

start_node 1
manager=$pid
SWARM_ADDRESS=127.0.0.1
if [ "$nodes" -gt 1 ]; then
  unshare --net sleep 1000000 &
  hub=$!
  began "$hub"
  # Until it is in its namespace.
  while [ "$(readlink /proc/$hub/ns/net)" = "$(readlink /proc/self/ns/net)" ]; do sleep 0.1; done
  if reason=$(wires && wire 1 "$manager" 2>&1); then
    SWARM_ADDRESS=10.99.0.1
  else
    nodes=1
    printf '\n*** ONE NODE ONLY: further ones cannot be joined here: %s ***\n' "$reason" >&2
  fi
fi
export DOCKER_HOST="unix://$place/node1.sock"
docker swarm init --advertise-addr "$SWARM_ADDRESS" --listen-addr "$SWARM_ADDRESS:2377" >/dev/null ||
  fail "no swarm: $(tail -n 5 "$place/node1/log")"
token=$(docker swarm join-token --quiet worker)
SWARM_HOSTS=
for node in $(seq 2 "$nodes"); do
  start_node "$node"
  wire "$node" "$pid"
  SWARM_HOSTS="$SWARM_HOSTS unix://$place/node$node.sock"
  docker --host "unix://$place/node$node.sock" swarm join --token "$token" \
    --advertise-addr "10.99.0.$node" --listen-addr "10.99.0.$node:2377" "$SWARM_ADDRESS:2377" >/dev/null
done
export SWARM_HOSTS SWARM_ADDRESS SWARM_NAMESPACE="/proc/$manager/ns/net"
run_command "$@"
