#!/usr/bin/env bash
# Downloads what the benchmarks use besides Node: smtp-sink and smtp-source of Postfix, from Debian's package into a folder of
# ours. Nothing is installed, configured or started. Needs apt-get and dpkg; root only where apt's package lists are missing.
set -euo pipefail

place=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)/node_modules/.cache/postfix
if [ -x "$place/usr/sbin/smtp-sink" ]; then
  echo 'smtp-sink and smtp-source are available.'
  exit 0
fi
if ! command -v apt-get >/dev/null || ! command -v dpkg >/dev/null; then
  echo 'smtp-sink and smtp-source come from a Debian package, and apt-get is not available.' >&2
  exit 1
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
[ "$(id -u)" -ne 0 ] || chown _apt "$work"
if ! apt-get download -qq postfix 2>/dev/null; then
  [ "$(id -u)" -ne 0 ] || apt-get update -qq
  apt-get download -qq postfix
fi
dpkg -x postfix_*.deb package
if LD_LIBRARY_PATH=package/usr/lib/postfix ldd package/usr/sbin/smtp-{sink,source} | grep 'not found' >&2; then
  echo 'smtp-sink and smtp-source need libraries that are not installed.' >&2
  exit 1
fi
mkdir -p "$place/usr/sbin" "$place/usr/lib"
cp -R package/usr/lib/postfix "$place/usr/lib"
cp package/usr/sbin/smtp-{sink,source} "$place/usr/sbin"
echo 'smtp-sink and smtp-source are available.'
