#!/usr/bin/env bash
# Installs the published clients for Python and PHP into a folder, for the examples of docs/clients.md: the tests find them by
# HERALD_CLIENTS. Needs the registries of both languages; the languages themselves come from Debian, if root may install them.
set -euo pipefail
folder=${1:?usage: scripts/install-clients.sh FOLDER}

if ! command -v php >/dev/null || ! command -v composer >/dev/null || ! /usr/bin/python3 -m pip --version >/dev/null 2>&1; then
  if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
    echo 'PHP, composer or pip is not installed, and installing it needs root and apt-get.' >&2
    exit 1
  fi
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq
  apt-get install -qq -y --no-install-recommends php-cli php-curl php-mbstring composer python3 python3-pip >/dev/null
fi

mkdir -p "$folder/python" "$folder/php"
/usr/bin/python3 -m pip install --quiet --target "$folder/python" 'notifications-python-client==12.1.0'
composer require --quiet --no-interaction --working-dir="$folder/php" \
  'alphagov/notifications-php-client:7.0.0' 'guzzlehttp/guzzle:^7.9'
echo "The published clients for Python and PHP are in $folder."
