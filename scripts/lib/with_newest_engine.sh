#!/bin/sh
# Runs a command with DOCKER_HOST set to the newest engine, which it starts before and ends after:
#
#   scripts/lib/with_newest_engine.sh COMMAND [ARGUMENT...]
#
# Both have a network namespace of their own, so that its networks and firewall rules are not those of
# the engine beside it. What it began it ends and takes away.
set -eu

root=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd)
newest=$root/.tools/newest
name=swt-newest-$$
place=$(mktemp -d)
socket=$place/engine.sock
engine_pid=

fail() {
  printf 'newest engine: %s\n' "$*" >&2
  exit 1
}

finish() {
  if [ -n "$engine_pid" ]; then
    kill "$engine_pid" 2>/dev/null || true
    wait "$engine_pid" 2>/dev/null || true
  fi
  ip netns delete "$name" 2>/dev/null || true
  # It may leave mounts behind, such as the namespace of containers without a network.
  sed -n "s#^[^ ]* \($place/[^ ]*\) .*#\1#p" /proc/mounts | sort -r | while read -r mount; do
    umount "$mount" || true
  done
  rm -rf "$place" || true
}

[ "$(id -u)" -eq 0 ] || fail "starting it needs root"
command -v ip >/dev/null || fail "it needs ip, of the package iproute2"
trap finish EXIT
trap 'exit 130' INT TERM
ip netns add "$name"
ip -n "$name" link set lo up
# runc of Debian 12 and 13 knows no time namespaces.
printf '{"features":{"time-namespaces":false}}\n' >"$place/daemon.json"
nsenter --net="/var/run/netns/$name" "$newest/dockerd" --config-file "$place/daemon.json" \
  --data-root "$place/data" --exec-root "$place/exec" --pidfile "$place/pid" -H "unix://$socket" \
  --containerd-namespace "$name" --containerd-plugins-namespace "$name-plugins" \
  --userland-proxy-path "$newest/docker-proxy" >"$place/log" 2>&1 </dev/null &
engine_pid=$!
tenths=0
until DOCKER_HOST=unix://$socket docker version >/dev/null 2>&1; do
  kill -0 "$engine_pid" 2>/dev/null || fail "it ended by itself: $(tail -n 5 "$place/log")"
  [ "$tenths" -lt 600 ] || fail "no answer within a minute: $(tail -n 5 "$place/log")"
  tenths=$((tenths + 2))
  sleep 0.2
done
nsenter --net="/var/run/netns/$name" env "DOCKER_HOST=unix://$socket" "$@"
