#!/usr/bin/env bash
# Installs what a full check needs besides Node: Debian's PostgreSQL 15, to run the tests against another version
# than the embedded one, the shells zsh and fish, to run their completion, and independent implementations of SMPP and DKIM. Needs root and Debian 12; starts nothing and creates
# no cluster.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/apt.sh"

[ -x /usr/lib/postgresql/15/bin/postgres ] || from_debian postgresql-15
for shell in zsh fish; do command -v "$shell" >/dev/null || from_debian "$shell"; done
dpkg -s libnet-smpp-perl >/dev/null 2>&1 || from_debian libnet-smpp-perl
dpkg -s python3-dkim >/dev/null 2>&1 || from_debian python3-dkim
echo 'PostgreSQL 15, zsh, fish, Net::SMPP and dkimpy are installed.'
