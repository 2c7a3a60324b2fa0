#!/bin/sh
# Runs a command with DOCKER_HOST set to an engine of another version, which it starts before and ends
# after:
#
#   scripts/lib/with_engine.sh PROGRAMS COMMAND [ARGUMENT...]
#
# PROGRAMS is a directory below .tools that ./scripts/setup filled: `newest`, which it built, or
# `engines/VERSION`, unpacked packages of another release of Debian with a containerd of their own.
# With IMAGE_STORE=containerd it keeps its images in containerd's store, as installations of engine 29 and
# newer do. The command runs in the engine's network namespace, so that it reaches published ports. Where
# such an engine cannot be had or runs no container, that is said, and it exits 77.
set -eu

root=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd)
programs=$root/.tools/$1
shift
own_engine=$root/scripts/lib/own_engine.sh
# shellcheck source=scripts/lib/own_engine.sh
. "$own_engine"

fail() {
  printf '\n*** ENGINE NOT TRIED: %s: %s ***\n' "${programs##*/}" "$*" >&2
  exit 77
}

own_path=$programs:$programs/usr/bin:$programs/usr/sbin:$PATH
program_of() { PATH=$own_path command -v "$1" || fail "there is no $1"; }
engine=$(program_of dockerd)
case $engine in "$programs"/*) ;; *) fail "there is no dockerd in $programs; see ./scripts/setup --help" ;; esac
missing=$(why_no_engine)
[ -z "$missing" ] || fail "$missing"
proxy=$(program_of docker-proxy)

# Its own, also where the machine has one that engines take when they find it.
containerd=$(program_of containerd)
mkdir "$place/containerd"
cat >"$place/containerd/config.toml" <<END
version = 2
root = "$place/containerd/root"
state = "$place/containerd/state"
disabled_plugins = ["io.containerd.grpc.v1.cri", "io.containerd.cri.v1.images",
  "io.containerd.cri.v1.runtime", "io.containerd.internal.v1.opt"]
[grpc]
address = "$place/containerd.sock"
END
PATH=$own_path "$containerd" --config "$place/containerd/config.toml" \
  >"$place/containerd/log" 2>&1 </dev/null &
containerd_pid=$!
began_last "$containerd_pid"
tenths=0
until [ -S "$place/containerd.sock" ]; do
  kill -0 "$containerd_pid" 2>/dev/null || fail "containerd ended by itself: $(tail -n 5 "$place/containerd/log")"
  [ "$tenths" -lt 600 ] || fail "no containerd within a minute: $(tail -n 5 "$place/containerd/log")"
  tenths=$((tenths + 1))
  sleep 0.1
done

# runc of Debian 12 and 13 knows no time namespaces, which the newest engine makes; older ones do not know
# the word.
features=
[ "${programs##*/}" != newest ] || features='"time-namespaces":false'
[ "${IMAGE_STORE:-}" != containerd ] || features=${features:+$features,}'"containerd-snapshotter":true'
printf '{"features":{%s}}\n' "$features" >"$place/daemon.json"
PATH_BEFORE=$PATH
PATH=$own_path
start_engine engine "$engine" --config-file "$place/daemon.json" \
  --containerd "$place/containerd.sock" --userland-proxy-path "$proxy"
PATH=$PATH_BEFORE
export DOCKER_HOST="unix://$place/engine.sock"

# That it answers is not enough: where a container is started in another way than here, say by another
# kind of control groups, an engine of some years ago may not manage it.
try_container() {
  tar -C / -c usr/bin/busybox | docker import - probe && docker network create probe &&
    docker run --rm --network probe -p 127.0.0.1::80 probe /usr/bin/busybox true &&
    docker network rm probe && docker rmi probe
}
try_container >"$place/probe" 2>&1 || fail "it runs no container: $(tail -n 3 "$place/probe")"
run_command nsenter --net="/proc/$pid/ns/net" "$@"
