#!/usr/bin/env bash
# Installs what the tests of the alert rules need: Debian's Prometheus with promtool. Needs root and Debian; starts nothing.
set -euo pipefail

if command -v prometheus >/dev/null && command -v promtool >/dev/null; then
  echo 'Prometheus and promtool are installed.'
  exit 0
fi
if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
  echo 'Prometheus is not installed. Installing it needs root and apt-get.' >&2
  exit 1
fi

# While this file forbids it, no package starts its service. One that was there before stays as it is.
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
  printf '#!/bin/sh\nexit 101\n' >"$policy"
  chmod 755 "$policy"
  trap 'rm -f "$policy"' EXIT
fi

export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -qq -y --no-install-recommends prometheus >/dev/null
command -v promtool >/dev/null
echo 'Prometheus and promtool are installed.'
