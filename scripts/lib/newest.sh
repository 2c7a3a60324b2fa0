# shellcheck shell=sh
# What people run before Debian has it, for the tests: docker compose 5 and the next container engine,
# built from their Go modules into .tools/newest. Read by scripts/setup; needs a Go compiler.

COMPOSE_NEWEST=v5.5.0
ENGINE_NEWEST=v2.0.0-beta.24

newest=$tools/newest
newest_compose=$newest/docker-compose
newest_engine=$newest/dockerd

can_have_newest() { command -v go >/dev/null 2>&1; }
has_newest() { [ -x "$newest_compose" ] && [ -x "$newest_engine" ] && [ -x "$newest/docker-proxy" ]; }

install_newest() {
  can_have_newest || fail "--newest needs a Go compiler (go) on PATH: the newest versions are built from source"
  mkdir -p "$newest"
  if [ ! -x "$newest_compose" ]; then
    say "building docker compose $COMPOSE_NEWEST from its Go module (some minutes)"
    module_copy "github.com/docker/compose/v5@$COMPOSE_NEWEST"
    (cd "$copy" && GOFLAGS='-mod=mod -buildvcs=false' go build -o "$newest_compose" \
      -ldflags "-X github.com/docker/compose/v5/internal.Version=$COMPOSE_NEWEST" ./cmd) >"$tools/newest.log" 2>&1 ||
      newest_failed "docker compose"
  fi
  if [ ! -x "$newest_engine" ] || [ ! -x "$newest/docker-proxy" ]; then
    say "building the container engine $ENGINE_NEWEST from its Go module (some minutes)"
    module_copy "github.com/moby/moby/v2@$ENGINE_NEWEST"
    for program in dockerd docker-proxy; do
      (cd "$copy" && CGO_ENABLED=0 GOFLAGS='-mod=mod -buildvcs=false' go build -o "$newest/$program" \
        -tags "no_systemd exclude_graphdriver_btrfs" "./cmd/$program") >"$tools/newest.log" 2>&1 ||
        newest_failed "$program"
    done
  fi
  rm -rf "$newest/source"
}

# `go install` refuses modules that replace others; building in a copy of the module is allowed.
module_copy() {
  directory=$(go mod download -json "$1" 2>"$tools/newest.log" | sed -n 's/^[[:space:]]*"Dir": "\(.*\)",*$/\1/p')
  [ -n "$directory" ] || newest_failed "$1, its download"
  copy=$newest/source
  rm -rf "$copy"
  cp -r "$directory" "$copy"
  chmod -R u+w "$copy"
}

newest_failed() {
  fail "could not build $1: $(tail -n 3 "$tools/newest.log"); the whole is in $tools/newest.log"
}
