# shellcheck shell=sh
# What people run before Debian has it, for the tests: docker compose 5, the buildx that it builds with,
# and the next container engine, from their Go modules into .tools/newest. Read by scripts/setup; needs
# a Go compiler.

COMPOSE_NEWEST=v5.5.0
BUILDX_NEWEST=v0.36.1
ENGINE_NEWEST=v2.0.0-beta.24

newest=$tools/newest
newest_compose=$newest/docker-compose
# Beside it, where the tests look for the one that belongs to a compose.
newest_buildx=$newest/docker-buildx
newest_engine=$newest/dockerd

can_have_newest() { command -v go >/dev/null 2>&1; }
has_newest() {
  for program in "$newest_compose" "$newest_buildx" "$newest_engine" "$newest/docker-proxy"; do
    [ -x "$program" ] || return 1
  done
}

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
  if [ ! -x "$newest_buildx" ]; then
    say "building docker buildx $BUILDX_NEWEST from its Go module (some minutes)"
    module_copy "github.com/docker/buildx@$BUILDX_NEWEST"
    # Compose refuses one that does not say which version it is.
    (cd "$copy" && GOFLAGS='-mod=mod -buildvcs=false' go build -o "$newest_buildx" \
      -ldflags "-X github.com/docker/buildx/version.Version=$BUILDX_NEWEST" ./cmd/buildx) >"$tools/newest.log" 2>&1 ||
      newest_failed "docker buildx"
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
