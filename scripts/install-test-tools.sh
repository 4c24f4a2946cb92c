#!/usr/bin/env bash
# Installs what a full check needs besides Node: Debian's PostgreSQL 15, to run the tests against another version
# than the embedded one. Needs root and Debian 12; starts nothing and creates no cluster.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/apt.sh"

[ -x /usr/lib/postgresql/15/bin/postgres ] || from_debian postgresql-15
echo 'PostgreSQL 15 is installed.'
