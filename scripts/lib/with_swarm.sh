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

place=$(mktemp -d)
pids=
nodes=${SWARM_NODES:-1}

fail() {
  printf 'swarm: %s\n' "$*" >&2
  exit 1
}

finish() {
  for pid in $pids; do kill "$pid" 2>/dev/null || true; done
  for pid in $pids; do wait "$pid" 2>/dev/null || true; done
  sed -n "s#^[^ ]* \($place/[^ ]*\) .*#\1#p" /proc/mounts | sort -r | while read -r mount; do
    umount "$mount" || true
  done
  rm -rf "$place" || true
}

program=$(command -v dockerd || echo /usr/sbin/dockerd)
missing=
[ -x "$program" ] || missing="dockerd is not installed"
[ -x /usr/bin/busybox ] || missing="it needs busybox, of the package busybox-static"
unshare --net --uts true 2>/dev/null || missing="no network namespace can be made here"
[ "$(id -u)" -eq 0 ] || missing="starting an engine needs root"
if [ -n "$missing" ]; then
  printf '\n*** NO SWARM, TESTS SKIPPED: %s ***\n' "$missing" >&2
  rm -rf "$place"
  SWARM_TESTS=0 exec "$@"
fi
trap finish EXIT
trap 'exit 130' INT TERM

# Runs a program in the namespace of a process.
within() {
  process=$1
  shift
  nsenter --net="/proc/$process/ns/net" "$@"
}

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

# Registries outside are not looked for: without the proxies every lookup waits for a name server.
start_engine() {
  mkdir "$place/$1"
  HTTPS_PROXY=http://127.0.0.1:9 HTTP_PROXY=http://127.0.0.1:9 NO_PROXY=127.0.0.0/8,10.99.0.0/24 \
    unshare --net --uts sh -c '/usr/bin/busybox ip link set lo up && /usr/bin/busybox hostname "$0" &&
      exec "$@"' "node$1" "$program" --insecure-registry 10.99.0.0/24 \
    --data-root "$place/$1/data" --exec-root "$place/$1/exec" --pidfile "$place/$1/pid" \
    -H "unix://$place/$1.sock" >"$place/$1/log" 2>&1 </dev/null &
  pid=$!
  pids="$pids $pid"
  tenths=0
  until DOCKER_HOST=unix://$place/$1.sock docker version >/dev/null 2>&1; do
    kill -0 "$pid" 2>/dev/null || fail "the engine ended by itself: $(tail -n 5 "$place/$1/log")"
    [ "$tenths" -lt 600 ] || fail "no answer within a minute: $(tail -n 5 "$place/$1/log")"
    tenths=$((tenths + 2))
    sleep 0.2
  done
}

start_engine 1
manager=$pid
SWARM_ADDRESS=127.0.0.1
if [ "$nodes" -gt 1 ]; then
  unshare --net sleep 1000000 &
  hub=$!
  pids="$pids $hub"
  # Until it is in its namespace.
  while [ "$(readlink /proc/$hub/ns/net)" = "$(readlink /proc/self/ns/net)" ]; do sleep 0.1; done
  if reason=$(wires && wire 1 "$manager" 2>&1); then
    SWARM_ADDRESS=10.99.0.1
  else
    nodes=1
    printf '\n*** ONE NODE ONLY: further ones cannot be joined here: %s ***\n' "$reason" >&2
  fi
fi
export DOCKER_HOST="unix://$place/1.sock"
docker swarm init --advertise-addr "$SWARM_ADDRESS" --listen-addr "$SWARM_ADDRESS:2377" >/dev/null ||
  fail "no swarm: $(tail -n 5 "$place/1/log")"
token=$(docker swarm join-token --quiet worker)
SWARM_HOSTS=
for node in $(seq 2 "$nodes"); do
  start_engine "$node"
  wire "$node" "$pid"
  SWARM_HOSTS="$SWARM_HOSTS unix://$place/$node.sock"
  docker --host "unix://$place/$node.sock" swarm join --token "$token" \
    --advertise-addr "10.99.0.$node" --listen-addr "10.99.0.$node:2377" "$SWARM_ADDRESS:2377" >/dev/null
done
export SWARM_HOSTS SWARM_ADDRESS SWARM_NAMESPACE="/proc/$manager/ns/net"
"$@"
