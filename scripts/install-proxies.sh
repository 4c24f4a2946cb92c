#!/usr/bin/env bash
# Installs what test/proxies.test.ts needs: nginx and HAProxy. Needs root and apt-get; starts nothing.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/apt.sh"

missing=()
for program in nginx haproxy; do
  PATH=$PATH:/usr/sbin:/sbin command -v "$program" >/dev/null || missing+=("${program/nginx/nginx-light}")
done
[ "${#missing[@]}" -eq 0 ] || from_debian "${missing[@]}"
echo 'nginx and HAProxy are installed.'
