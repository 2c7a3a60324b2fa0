# shellcheck shell=sh
# shellcheck disable=SC2034 # pid is read by who sources this
# Engines of one's own beside the machine's, for scripts that run a command with one. Each has network and
# host name of its own, so that its networks, ports and firewall rules are not those of the engine beside
# it. What was begun is ended and taken away.

place=$(mktemp -d)
pids=
# What the others need until they have ended.
last_pid=

finish() {
  for process in $pids; do kill "$process" 2>/dev/null || true; done
  for process in $pids; do wait "$process" 2>/dev/null || true; done
  if [ -n "$last_pid" ]; then
    kill "$last_pid" 2>/dev/null || true
    wait "$last_pid" 2>/dev/null || true
  fi
  # They may leave mounts behind, such as the namespace of containers without a network.
  sed -n "s#^[^ ]* \($place/[^ ]*\) .*#\1#p" /proc/mounts | sort -r | while read -r mount; do
    umount "$mount" || true
  done
  rm -rf "$place" || true
}

# Why this machine cannot have one; nothing where it can.
why_no_engine() {
  [ -x /usr/bin/busybox ] || echo "it needs busybox, of the package busybox-static"
  unshare --net --uts true 2>/dev/null || echo "no network namespace can be made here"
  [ "$(id -u)" -eq 0 ] || echo "starting an engine needs root"
}

# Runs a program in the network namespace of a process.
within() {
  process=$1
  shift
  nsenter --net="/proc/$process/ns/net" "$@"
}

# Starts the program $2 with the options after it as the engine $1, a name for its host and its directory
# below `place`; its process is `pid` then. Fails where it does not answer.
# Registries outside are not looked for: without the proxies every lookup waits for a name server.
start_engine() {
  host=$1
  shift
  mkdir -p "$place/$host"
  HTTPS_PROXY=http://127.0.0.1:9 HTTP_PROXY=http://127.0.0.1:9 NO_PROXY=127.0.0.0/8,10.99.0.0/24 \
    unshare --net --uts sh -c '/usr/bin/busybox ip link set lo up && /usr/bin/busybox hostname "$0" &&
      exec "$@"' "$host" "$@" \
    --data-root "$place/$host/data" --exec-root "$place/$host/exec" --pidfile "$place/$host/pid" \
    -H "unix://$place/$host.sock" >"$place/$host/log" 2>&1 </dev/null &
  pid=$!
  pids="$pids $pid"
  tenths=0
  until DOCKER_HOST=unix://$place/$host.sock docker version >/dev/null 2>&1; do
    kill -0 "$pid" 2>/dev/null || fail "the engine ended by itself: $(tail -n 5 "$place/$host/log")"
    [ "$tenths" -lt 600 ] || fail "no answer within a minute: $(tail -n 5 "$place/$host/log")"
    tenths=$((tenths + 2))
    sleep 0.2
  done
}
