#!/usr/bin/env bash
# Installs the published clients for Python and PHP into a folder, for the examples of docs/clients.md: the tests find them by
# CLIENTS_FOLDER. Needs the registries of both languages; the languages themselves come from Debian, if root may install them. A
# client that cannot be installed is named, and does not keep the other one from being installed. (The client for Node is a
# development dependency.)
set -uo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/apt.sh"
folder=${1:?usage: scripts/install-clients.sh FOLDER}
missing=()

main() {
  mkdir -p "$folder/python" "$folder/php"
  languages
  python_client || missing+=('Python')
  php_client || missing+=('PHP')
  if [ ${#missing[@]} -gt 0 ]; then
    echo "The published client cannot be installed here for: ${missing[*]}." >&2
    exit 1
  fi
  echo "The published clients for Python and PHP are in $folder."
}

# In a shell of its own, because it ends the shell where nothing can be installed.
languages() {
  command -v php >/dev/null && command -v composer >/dev/null && /usr/bin/python3 -m pip --version >/dev/null 2>&1 ||
    (from_debian php-cli php-curl php-mbstring composer python3 python3-pip unzip)
}

# What was installed before is used again, and so is what somebody else has put into the folder.
python_client() {
  PYTHONPATH=$folder/python /usr/bin/python3 -c 'import notifications_python_client.notifications' 2>/dev/null ||
    /usr/bin/python3 -m pip install --quiet --retries 1 --timeout 20 --root-user-action=ignore \
      --target "$folder/python" 'notifications-python-client==12.1.0' 2>/dev/null
}

php_client() {
  [ -e "$folder/php/vendor/autoload.php" ] ||
    COMPOSER_ALLOW_SUPERUSER=1 composer require --quiet --no-interaction --working-dir="$folder/php" \
      'alphagov/notifications-php-client:7.0.0' 'guzzlehttp/guzzle:^7.9' 2>/dev/null
}

main
