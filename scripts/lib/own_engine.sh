# shellcheck shell=sh
# shellcheck disable=SC2034,SC2154 # pid is read by who sources this, own_engine is set by them
# Engines of one's own beside the machine's, for scripts that run a command with one. Each has network and
# host name of its own, so that its networks, ports and firewall rules are not those of the engine beside
# it. What was begun is ended and taken away, also where the script is killed: a guard sees to that, a
# process in a session of its own. It is this file, run as a program:
#
#   own_engine.sh guard PROCESS START PLACE
#   own_engine.sh run PLACE COMMAND...        a command that ends with the script, which notes itself

# Notes a process as one that has to end: engines and what stands beside them, and those that the others
# need until they have ended.
began() { printf '%s %s\n' "$1" "$(start_of "$1")" >>"$place/pids"; }
began_last() { printf '%s %s\n' "$1" "$(start_of "$1")" >>"$place/last_pids"; }

# When a process was started, in ticks: its number may be another's later.
start_of() { sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | cut -d ' ' -f 20; }

# Whether the process that was started then works; one that has ended has no program, also before anybody
# has asked how it ended.
is_running() { [ -e "/proc/$1/exe" ] && [ "$(start_of "$1")" = "$2" ]; }

# Ends the processes in a file. Engines take some seconds for their containers.
end_all() {
  [ -r "$1" ] || return 0
  while read -r process start; do
    ! is_running "$process" "$start" || kill "$process" 2>/dev/null || true
  done <"$1"
  while read -r process start; do
    tenths=0
    while is_running "$process" "$start"; do
      [ "$tenths" -lt 600 ] || kill -9 "$process" 2>/dev/null || true
      tenths=$((tenths + 1))
      sleep 0.1
    done
  done <"$1"
}

# What an engine leaves that was killed: containers, and the processes that watch them.
kill_orphans() {
  find "$place" -name init.pid 2>/dev/null | while read -r file; do
    container=${file%/init.pid}
    process=$(cat "$file" 2>/dev/null) || continue
    ! grep -qs "${container##*/}" "/proc/$process/cgroup" || kill -9 "$process" 2>/dev/null || true
  done
  # The brackets keep grep from finding itself.
  grep -lsa "$place[/]" /proc/[0-9]*/cmdline 2>/dev/null | while read -r file; do
    process=${file#/proc/}
    kill -9 "${process%/cmdline}" 2>/dev/null || true
  done
}

finish() {
  # A second signal would leave the rest.
  trap '' HUP INT TERM
  end_all "$place/pids"
  end_all "$place/last_pids"
  kill_orphans
  # They may leave mounts behind, such as the namespace of containers without a network.
  sed -n "s#^[^ ]* \($place/[^ ]*\) .*#\1#p" /proc/mounts | sort -r | while read -r mount; do
    umount "$mount" 2>/dev/null || umount -l "$mount" || true
  done
  rm -rf "$place" || true
}

if [ "${1:-}" = guard ] && [ "${0##*/}" = own_engine.sh ]; then
  place=$4
  : >"$place/guarded"
  while is_running "$2" "$3"; do sleep 1; done
  [ ! -d "$place" ] || finish
  exit
fi
if [ "${1:-}" = run ] && [ "${0##*/}" = own_engine.sh ]; then
  place=$2
  shift 2
  # Where that is gone the script is, too.
  began $$ || exit
  exec "$@"
fi

place=$(mktemp -d)
trap finish EXIT
trap 'exit 130' HUP INT TERM
setsid sh "$own_engine" guard $$ "$(start_of $$)" "$place" </dev/null >/dev/null 2>&1 &
# Until it is in its session.
while [ ! -e "$place/guarded" ]; do sleep 0.02; done

# Runs the command; beside this shell, so that it hears of signals at once.
run_command() {
  exec 3<&0
  sh "$own_engine" run "$place" "$@" <&3 3<&- &
  wait $!
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
  began "$pid"
  tenths=0
  until DOCKER_HOST=unix://$place/$host.sock docker version >/dev/null 2>&1; do
    kill -0 "$pid" 2>/dev/null || fail "the engine ended by itself: $(tail -n 5 "$place/$host/log")"
    [ "$tenths" -lt 600 ] || fail "no answer within a minute: $(tail -n 5 "$place/$host/log")"
    tenths=$((tenths + 2))
    sleep 0.2
  done
}
