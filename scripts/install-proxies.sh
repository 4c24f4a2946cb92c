#!/usr/bin/env bash
# Installs what test/proxies.test.ts needs: nginx and HAProxy. Needs root and apt-get; starts nothing.
set -euo pipefail

missing=()
for program in nginx haproxy; do
  PATH=$PATH:/usr/sbin:/sbin command -v "$program" >/dev/null || missing+=("${program/nginx/nginx-light}")
done
if [ "${#missing[@]}" -eq 0 ]; then
  echo 'nginx and HAProxy are installed.'
  exit 0
fi
if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
  echo "${missing[*]} must be installed, and that needs root and apt-get." >&2
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
apt-get install -qq -y --no-install-recommends "${missing[@]}" >/dev/null
echo 'nginx and HAProxy are installed.'
