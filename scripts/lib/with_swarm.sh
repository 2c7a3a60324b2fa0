#!/bin/sh
# Runs a command with DOCKER_HOST set to an engine of its own that manages a swarm of one node, which
# it starts before and ends after:
#
#   scripts/lib/with_swarm.sh COMMAND [ARGUMENT...]
#
# The engine has a network namespace of its own, so that its networks, ports and firewall rules are not
# those of the engine beside it, which stays out of the swarm. What it began it ends and takes away.
# The command runs outside of that namespace: it reaches the engine, and none of its ports. Where no such
# engine can be had, that is said and the command runs without, with SWARM_TESTS=0.
set -eu

place=$(mktemp -d)
socket=$place/engine.sock
engine_pid=

fail() {
  printf 'swarm: %s\n' "$*" >&2
  exit 1
}

finish() {
  if [ -n "$engine_pid" ]; then
    kill "$engine_pid" 2>/dev/null || true
    wait "$engine_pid" 2>/dev/null || true
  fi
  sed -n "s#^[^ ]* \($place/[^ ]*\) .*#\1#p" /proc/mounts | sort -r | while read -r mount; do
    umount "$mount" || true
  done
  rm -rf "$place" || true
}

program=$(command -v dockerd || echo /usr/sbin/dockerd)
missing=
[ -x "$program" ] || missing="dockerd is not installed"
[ -x /usr/bin/busybox ] || missing="it needs busybox, of the package busybox-static"
unshare --net true 2>/dev/null || missing="no network namespace can be made here"
[ "$(id -u)" -eq 0 ] || missing="starting an engine needs root"
if [ -n "$missing" ]; then
  printf '\n*** NO SWARM, TESTS SKIPPED: %s ***\n' "$missing" >&2
  rm -rf "$place"
  SWARM_TESTS=0 exec "$@"
fi
trap finish EXIT
trap 'exit 130' INT TERM
# Registries are not looked for: without it every lookup waits for a name server.
HTTPS_PROXY=http://127.0.0.1:9 HTTP_PROXY=http://127.0.0.1:9 NO_PROXY=127.0.0.0/8 \
  unshare --net sh -c '/usr/bin/busybox ip link set lo up && exec "$@"' - "$program" \
  --data-root "$place/data" --exec-root "$place/exec" --pidfile "$place/pid" \
  -H "unix://$socket" >"$place/log" 2>&1 </dev/null &
engine_pid=$!
tenths=0
until DOCKER_HOST=unix://$socket docker version >/dev/null 2>&1; do
  kill -0 "$engine_pid" 2>/dev/null || fail "the engine ended by itself: $(tail -n 5 "$place/log")"
  [ "$tenths" -lt 600 ] || fail "no answer within a minute: $(tail -n 5 "$place/log")"
  tenths=$((tenths + 2))
  sleep 0.2
done
export DOCKER_HOST="unix://$socket"
docker swarm init --advertise-addr 127.0.0.1 --listen-addr 127.0.0.1:2377 >/dev/null ||
  fail "no swarm: $(tail -n 5 "$place/log")"
"$@"
