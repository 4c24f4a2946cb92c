#!/usr/bin/env bash
# Installs what the tests of files use besides Node: Debian's clamd (without a virus database: the tests provide one signature) and
# Chromium for the download page. Needs root and apt-get; starts nothing.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/apt.sh"

missing=()
[ -x /usr/sbin/clamd ] || missing+=(clamav-daemon)
[ -x /usr/bin/chromium ] || missing+=(chromium)
[ "${#missing[@]}" -eq 0 ] || from_debian "${missing[@]}"
echo 'clamd and Chromium are installed.'
