# shellcheck shell=sh
# shellcheck disable=SC2154 # tools, with_tests and second_compose come from the script that sources this
# The part of scripts/setup that knows distributions: which packages give what is missing, and how
# they are installed. Sourced by it; uses its `say`, `fail`, `tools` and checks.

apt_next_name=stackwright-next

# Installs what the lines of $1 (git, ssh-client, docker-cli, engine, compose, buildx, busybox,
# ssh-server, browser, registry, debootstrap, devmapper) name, with the distribution's packages, or says in
# one sentence what is missing. On Debian 12 the docker family is unpacked into .tools and replaces nothing; for the
# tests it is installed from the next suite.
install_packages() {
  wanted=$(printf '%s' "$1" | tr '\n' ' ')
  system=$(system_name)
  case $system in
    debian-12 | debian-13 | ubuntu-*) ;;
    *) fail "missing: ${wanted}— this script installs packages on Debian 12, Debian 13 and Ubuntu only; here (${system}) install git, ssh, a static busybox, Docker Engine with compose 2.26 or newer and buildx, see that 'docker version' answers, and run this again" ;;
  esac
  for part in $wanted; do
    package_of "$part"
  done
  [ "$(id -u)" -eq 0 ] || [ -z "$plain$next" ] ||
    fail "missing: ${wanted}— run 'sudo ./scripts/setup' once, or have an administrator install them; 'docker version' must answer for your user"
  if [ -n "$plain$next" ]; then
    say "installing packages of $system:${plain:- none}${next:+ (from the suite trixie:$next)}"
    apt_install
  fi
  [ -z "$unpacked" ] || unpack_docker
}

# Prints ID-VERSION of the running system, `macos` or the kernel's name.
system_name() {
  if [ -r /etc/os-release ]; then
    # shellcheck disable=SC1091
    (. /etc/os-release && case ${ID:-} in
      debian) echo "debian-${VERSION_ID:-unstable}" ;;
      ubuntu) echo "ubuntu-${VERSION_ID:-}" ;;
      *) echo "${ID:-linux} ${VERSION_ID:-}" ;;
    esac)
  else
    uname -s
  fi
}

plain=
next=
unpacked=

# Sorts the packages of one missing part into `plain` (the system's own suite), `next` and `unpacked`.
# Debian 12 has compose 1.29 only, so the docker family comes from its next release there.
package_of() {
  case $system in
    ubuntu-*) compose_package=docker-compose-v2 ;;
    *) compose_package=docker-compose ;;
  esac
  case $1 in
    git) plain="$plain git ca-certificates" ;;
    ssh-client) plain="$plain openssh-client" ;;
    ssh-server) ssh_server ;;
    browser) plain="$plain chromium" ;;
    debootstrap) plain="$plain debootstrap debian-archive-keyring" ;;
    devmapper) plain="$plain libdevmapper1.02.1" ;;
    registry) docker_family docker-registry ;;
    busybox) plain="$plain busybox-static" ;;
    engine) docker_engine ;;
    docker-cli) [ "${system#ubuntu-}" != "$system" ] || docker_family docker-cli ;;
    compose) docker_family "$compose_package" ;;
    buildx) docker_family docker-buildx ;;
  esac
}

docker_family() {
  if can_unpack; then
    unpacked="$unpacked $*"
  elif needs_next_suite; then
    next="$next $*"
  else
    plain="$plain $*"
  fi
}

# The programs beside the engine are good enough in any release, and those of the next one need a
# libc that Debian 12 has not.
docker_engine() {
  if can_unpack; then
    plain="$plain runc iptables tini"
    docker_family docker.io containerd
  else
    docker_family docker.io iptables
  fi
}

# The docker family of trixie is content with the libc of Debian 12 (2.34 or newer), so that it runs
# beside the system's packages. A machine that took the next suite in goes on with it, and one for
# tests is no system that somebody lives in.
can_unpack() {
  [ "$system" = debian-12 ] && ! $with_tests && [ ! -e "/etc/apt/sources.list.d/$apt_next_name.sources" ]
}

# Once the next suite was used, Debian 12 can call itself 13, because that suite's base-files came
# along; our source list is then what tells the two apart.
needs_next_suite() {
  [ "$system" = debian-12 ] || [ -e "/etc/apt/sources.list.d/$apt_next_name.sources" ]
}

# The server must have the version of the client, which may have come from the next suite.
ssh_server() {
  client=$(dpkg-query -W -f '${Version}' openssh-client 2>/dev/null || true)
  server=$(LC_ALL=C apt-cache policy openssh-server 2>/dev/null | sed -n 's/^ *Candidate: *\([0-9].*\)/\1/p')
  if needs_next_suite && [ -n "$client" ] && dpkg --compare-versions "$client" gt "${server:-0}"; then
    next="$next openssh-server"
  else
    plain="$plain openssh-server"
  fi
}

apt_install() {
  export DEBIAN_FRONTEND=noninteractive NEEDRESTART_MODE=a LC_ALL=C.UTF-8
  : >"$tools/apt.log"
  apt update || apt_failed "could not read the package lists"
  if [ -n "$next" ] && add_next_suite; then
    apt update || apt_failed "could not read the package lists of trixie"
  fi
  agree_to_upgrades
  hold_services
  if ! apt_install_from trixie "$next" || ! apt_install_from "" "$plain"; then
    release_services
    apt_failed "could not install${plain}${next}"
  fi
  release_services
}

# Packages of the next suite can need newer ones of the base system (libc6, say). Nothing that is
# there is replaced silently: a person is asked, a script without one gets it said.
agree_to_upgrades() {
  upgrades=$(upgraded_packages)
  [ -n "$upgrades" ] || return 0
  say "this replaces packages of the system with those of trixie: $upgrades"
  [ -t 0 ] && [ -t 1 ] || return 0
  printf 'setup: go on? [y/N] '
  read -r answer
  case $answer in
    y | Y | yes) ;;
    *) fail "nothing was installed; install Docker Engine with compose 2.26 or newer and buildx yourself (https://docs.docker.com/engine/install/debian/), see that 'docker version' answers, and run this again" ;;
  esac
}

# Installed packages that the installation would upgrade, as "name old -> new", separated by commas.
upgraded_packages() {
  [ -n "$next" ] || return 0
  # shellcheck disable=SC2086
  LC_ALL=C apt-get -s -q -o Debug::NoLocking=true install -t trixie --no-install-recommends $next 2>>"$tools/apt.log" |
    sed -n 's/^Inst \([^ ]*\) \[\([^]]*\)\] (\([^ ]*\) .*/\1 \2 -> \3/p' | paste -s -d , - | sed 's/,/, /g'
}

# Installs the packages of the list $2 from the suite $1; an empty suite is the system's own.
apt_install_from() {
  [ -n "$2" ] || return 0
  # shellcheck disable=SC2086
  apt install ${1:+-t "$1"} --no-install-recommends $2
}

apt() {
  verb=$1
  shift
  apt-get "$verb" -y -q -o Acquire::Retries=3 -o DPkg::Lock::Timeout=120 -o Dpkg::Use-Pty=0 \
    -o Dpkg::Options::=--force-confold "$@" >>"$tools/apt.log" 2>&1 </dev/null
}

apt_failed() {
  tail -n 15 "$tools/apt.log" >&2
  fail "apt-get $1 (its last words are above, all of them in $tools/apt.log); is the package mirror reachable?"
}

# The machine's own mirror serves the next suite too; priority 50 keeps it from upgrading anything
# that was not asked for. Fails when the source is there already: nothing was added.
add_next_suite() {
  [ ! -e "/etc/apt/sources.list.d/$apt_next_name.sources" ] || return 1
  mirror=$(debian_mirror) || exit 1
  say "adding the suite trixie with low priority (/etc/apt/sources.list.d/$apt_next_name.sources)"
  apt_source trixie "$mirror" >"/etc/apt/sources.list.d/$apt_next_name.sources"
  printf 'Package: *\nPin: release n=trixie\nPin-Priority: 50\n' >"/etc/apt/preferences.d/$apt_next_name"
}

# Address of the Debian mirror this machine uses; apt knows it once it has read package lists.
# shellcheck disable=SC2016 # the words with a dollar sign are apt's own
debian_mirror() {
  mirror=$(apt-get indextargets --format '$(CODENAME) $(REPO_URI)' 'Created-By: Packages' 2>/dev/null |
    sed -n 's/^\(bookworm\|trixie\) //p' | head -n 1)
  [ -n "$mirror" ] || fail "apt has read no package list of a Debian mirror; is one configured in /etc/apt, and reachable?"
  printf '%s' "$mirror"
}

apt_source() {
  printf 'Types: deb\nURIs: %s\nSuites: %s\nComponents: main\nSigned-By: %s\n' \
    "$2" "$1" /usr/share/keyrings/debian-archive-keyring.gpg
}

# Packages must not start services while they are installed: the engine is started by
# scripts/engine, which knows how to end it, and the ssh server not at all.
hold_services() {
  [ ! -e /usr/sbin/policy-rc.d ] || return 0
  trap release_services EXIT
  trap 'exit 130' INT TERM
  printf '#!/bin/sh\n# Made by scripts/setup for the time of one installation.\nexit 101\n' >/usr/sbin/policy-rc.d
  chmod +x /usr/sbin/policy-rc.d
  services_held=true
}

release_services() {
  [ "${services_held:-false}" = true ] || return 0
  rm -f /usr/sbin/policy-rc.d
  services_held=false
}

# --- packages that are unpacked, not installed -----------------------------------------------------

# Unpacks the packages in `unpacked` into .tools/docker and links their programs, which changes no
# package of the system. Plugins are linked to where docker looks for them.
unpack_docker() {
  say "unpacking packages of trixie into .tools/docker, none is installed or replaced:$unpacked"
  # shellcheck disable=SC2086
  unpack_packages trixie "$tools/docker" $unpacked
  for program in "$tools"/docker/usr/bin/* "$tools"/docker/usr/sbin/*; do
    [ ! -f "$program" ] || ln -sf "$program" "$tools/bin/"
  done
  [ ! -x /usr/bin/tini-static ] || ln -sf /usr/bin/tini-static "$tools/bin/docker-init"
  plugins=/usr/local/lib/docker/cli-plugins
  [ "$(id -u)" -eq 0 ] || plugins=${DOCKER_CONFIG:-$HOME/.docker}/cli-plugins
  mkdir -p "$plugins"
  for plugin in "$tools"/docker/usr/libexec/docker/cli-plugins/*; do
    [ -f "$plugin" ] || continue
    [ ! -e "$plugins/${plugin##*/}" ] ||
      fail "$plugins/${plugin##*/} is there already and too old; remove it, and run this again"
    say "linking $plugins/${plugin##*/}"
    ln -sf "$plugin" "$plugins/"
  done
}

# Unpacks packages of the suite $1 into the directory $2, without installing them and without changing
# the system's package sources: apt runs on lists of its own.
unpack_packages() {
  suite=$1
  directory=$2
  shift 2
  private=$tools/apt
  rm -rf "$private"
  mkdir -p "$private/sources" "$private/lists/partial" "$private/cache/archives/partial" "$private/download" "$directory"
  : >>"$tools/apt.log"
  mirror=$(debian_mirror) || exit 1
  apt_source "$suite" "$mirror" >"$private/sources/$suite.sources"
  private_apt update || apt_failed "could not read the package lists of $suite"
  for package in "$@"; do
    (cd "$private/download" && private_apt download "$package/$suite") ||
      apt_failed "could not download $package of $suite"
  done
  for file in "$private"/download/*.deb; do dpkg-deb -x "$file" "$directory"; done
  rm -rf "$private"
}

# --- a second compose -----------------------------------------------------------------------------

can_have_second_compose() {
  case $(system_name) in
    debian-*) command -v dpkg-deb >/dev/null 2>&1 ;;
    *) return 1 ;;
  esac
}

install_second_compose() {
  say "fetching a newer docker compose for the tests into .tools/compose-next (package of the suite sid)"
  unpack_packages sid "$tools/compose-next" docker-compose docker-buildx
  has_second_compose || fail "the packages docker-compose and docker-buildx of sid hold no plugins at ${second_compose%/*}"
}

# A mirror may be a snapshot of some days ago, which is as good for a test: signatures are checked,
# the date until which lists are valid is not.
private_apt() {
  command=$1
  shift
  apt "$command" -o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts="$private/sources" \
    -o Dir::Etc::Preferences=/dev/null -o Dir::Etc::PreferencesParts=/dev/null \
    -o Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false \
    -o Acquire::Check-Valid-Until=false \
    -o Dir::State::Lists="$private/lists" -o Dir::Cache="$private/cache" \
    -o APT::Sandbox::User="$(id -un)" "$@"
}
