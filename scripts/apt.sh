# shellcheck shell=bash
# For scripts/install-*.sh: installs packages of Debian, and starts nothing. Needs root and apt-get.
from_debian() {
  if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
    echo "Not installed: $*. Installing it needs root and apt-get." >&2
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
  case " $* " in
    *' postgresql-15 '*)
      # The package would create a cluster; the tests create their own.
      apt-get install -qq -y --no-install-recommends postgresql-common >/dev/null
      sed -i 's/^#\?create_main_cluster.*/create_main_cluster = false/' /etc/postgresql-common/createcluster.conf
      ;;
  esac
  apt-get install -qq -y --no-install-recommends "$@" >/dev/null
}
