#!/bin/sh
# Mounts a directory whose files are in memory, prints its path, and takes it away when its input ends,
# as it does however the process ends that holds the other end:
#
#   scripts/lib/memory_place.sh KILOBYTES
#
# A disk is waited for by each of the thousand ledgers and trees that tests make. Where there is not
# twice as much memory, or nothing may be mounted, nothing is printed. Not /dev/shm: what lies below
# /dev is the kernel's, and is not deployed.
set -eu

size=$1
free=$(sed -n 's/^MemAvailable: *\([0-9]*\).*/\1/p' /proc/meminfo 2>/dev/null || :)
[ "${free:-0}" -ge $((2 * size)) ] || exit 0
place=$(mktemp -d "${TMPDIR:-/tmp}/swt-XXXXXX")
trap '' HUP INT TERM
# Every user may write there, as in the machine's own.
if mount -t tmpfs -o "size=${size}k,mode=1777" stackwright-tests "$place" 2>/dev/null; then
  printf '%s\n' "$place" || :
  cat >/dev/null || :
  umount -l "$place"
fi
rmdir "$place"
