#!/usr/bin/env bash
# Installs what the tests of the alert rules need: Debian's Prometheus with promtool. Needs root and Debian; starts nothing.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/apt.sh"

command -v prometheus >/dev/null && command -v promtool >/dev/null || from_debian prometheus
command -v promtool >/dev/null
echo 'Prometheus and promtool are installed.'
