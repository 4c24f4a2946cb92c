#!/usr/bin/env bash
# Installs what the tests of files use besides Node: Debian's clamd (without a virus database: the tests provide one signature) and
# Chromium for the download page. Needs root and apt-get; starts nothing.
set -euo pipefail

missing=()
[ -x /usr/sbin/clamd ] || missing+=(clamav-daemon)
[ -x /usr/bin/chromium ] || missing+=(chromium)
if [ "${#missing[@]}" -eq 0 ]; then
  echo 'clamd and Chromium are installed.'
  exit 0
fi
if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
  echo "${missing[*]} must be installed, and that needs root and apt-get." >&2
  exit 1
fi

export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -qq -y --no-install-recommends "${missing[@]}" >/dev/null
echo 'clamd and Chromium are installed.'
