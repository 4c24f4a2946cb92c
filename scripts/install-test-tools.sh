#!/usr/bin/env bash
# Installs what a full check needs besides Node: Debian's PostgreSQL 15, to run the tests against another version
# than the embedded one, and the shells zsh and fish, to run their completion. Needs root and Debian 12; starts nothing and creates
# no cluster.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/apt.sh"

[ -x /usr/lib/postgresql/15/bin/postgres ] || from_debian postgresql-15
for shell in zsh fish; do command -v "$shell" >/dev/null || from_debian "$shell"; done
echo 'PostgreSQL 15, zsh and fish are installed.'
