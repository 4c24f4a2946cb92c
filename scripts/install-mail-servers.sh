#!/usr/bin/env bash
# Fetches the mail servers that test/providers/smtp-servers.test.ts sends to: Postfix, Exim and OpenSMTPD, out of Debian's packages,
# each with its libraries into a folder of its own, in which the test runs it by chroot. Nothing is installed, configured or
# started: the packages exclude each other as the system's mail server. Needs root (for chroot), apt-get and dpkg.
set -euo pipefail

place=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)/node_modules/.cache/mail-servers
if [ -e "$place/complete" ]; then
  echo 'Postfix, Exim and OpenSMTPD are there.'
  exit 0
fi
if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null || ! command -v dpkg >/dev/null; then
  echo 'Postfix, Exim and OpenSMTPD come from Debian packages and run in a chroot: that needs root and apt-get.' >&2
  exit 1
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
chown _apt "$work"

# Libraries of the servers that not every machine has; the names are those of Debian 12.
libraries=(libdb5.3 libevent-2.1-7 libgnutls-dane0 libidn12 libnsl2 libsasl2-2 libtirpc3 libunbound8)
packages=(postfix exim4-daemon-light opensmtpd "${libraries[@]}")
if ! apt-get download -qq "${packages[@]}" 2>/dev/null; then
  apt-get update -qq
  apt-get download -qq "${packages[@]}"
fi
mkdir libraries
for package in "${libraries[@]}"; do dpkg -x "$package"_*.deb libraries; done
LD_LIBRARY_PATH=$(find "$work/libraries" -name '*.so*' -printf '%h\n' | sort -u | paste -sd :)

# Everything a program needs at the same path below the folder as on a system where it is installed.
fetch() {
  local name=$1 package=$2 root=$work/roots/$1 program library
  mkdir -p "$root"
  dpkg -x "$package"_*.deb "$root"
  # A package may bring a folder /lib of its own. The loader of arm64 is looked for there.
  if [ -d "$root/lib" ]; then
    mkdir -p "$root/usr/lib"
    cp -a "$root/lib/." "$root/usr/lib"
  fi
  rm -rf "$root/usr/share" "$root/lib"
  ln -s usr/lib "$root/lib"
  ln -s usr/lib64 "$root/lib64"
  while read -r program; do
    for library in $(LD_LIBRARY_PATH=$root/usr/lib/postfix:$LD_LIBRARY_PATH ldd "$program" | grep -o '/[^ ]*' | grep -v "^$root"); do
      copy_library "$library" "$root"
    done
    if LD_LIBRARY_PATH=$root/usr/lib/postfix:$LD_LIBRARY_PATH ldd "$program" | grep 'not found' >&2; then
      echo "$name needs libraries that are not here." >&2
      exit 1
    fi
  done < <(find "$root/usr" -type f -perm -u+x -exec sh -c 'head -c 4 "$1" | grep -q ELF' _ {} \; -print)
}

# /lib is /usr/lib on every Debian that is looked after.
copy_library() {
  local library=$1 to
  to=${library#"$work/libraries"}
  case $to in /lib/* | /lib64/*) to=/usr$to ;; esac
  mkdir -p "$2$(dirname "$to")"
  [ -e "$2$to" ] || cp -L "$library" "$2$to"
}

fetch postfix postfix
fetch exim exim4-daemon-light
fetch opensmtpd opensmtpd

rm -rf "$place"
mkdir -p "$place"
mv roots/* "$place"
touch "$place/complete"
echo 'Postfix, Exim and OpenSMTPD are there.'
