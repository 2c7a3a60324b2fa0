# shellcheck shell=sh
# Engines of other releases of Debian, for the tests: unpacked into .tools/engines/VERSION with the
# containerd and runc of their time, and nothing of the system is changed. Read by scripts/setup.

OTHER_ENGINES="28.5 20.10"

engine_suite() {
  case $1 in
    28.5) echo forky ;;
    20.10) echo bookworm ;;
  esac
}

# Debian's next release goes on: what it has one day may be another version, or need another libc.
has_other_engine() {
  "$tools/engines/$1/usr/sbin/dockerd" --version 2>/dev/null | grep -q "version $1\." &&
    [ -x "$tools/engines/$1/usr/bin/containerd" ]
}
has_other_engines() { for engine in $OTHER_ENGINES; do has_other_engine "$engine" || return 1; done; }

# Tests with them are more, not the only ones: one that cannot be had is said and left out.
install_other_engines() {
  for engine in $OTHER_ENGINES; do
    ! has_other_engine "$engine" || continue
    suite=$(engine_suite "$engine")
    say "fetching engine $engine for the tests into .tools/engines (packages of the suite $suite)"
    (can_have_second_compose && unpack_packages "$suite" "$tools/engines/$engine" docker.io containerd runc) || true
    has_other_engine "$engine" || {
      rm -rf "$tools/engines/$engine"
      say "*** engine $engine cannot be had here, and is not tried: packages docker.io, containerd and runc of Debian's suite $suite, unpacked, do not make one that runs (see $tools/apt.log) ***"
    }
  done
}
