#!/usr/bin/env bash
# Installs what a full check needs besides Node: Debian's PostgreSQL 15, to run the tests against another version
# than the embedded one. Needs root and Debian 12; starts nothing and creates no cluster.
set -euo pipefail

if [ -x /usr/lib/postgresql/15/bin/postgres ]; then
  echo 'PostgreSQL 15 is installed.'
  exit 0
fi
if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
  echo 'PostgreSQL 15 is not installed, and installing it needs root and apt-get.' >&2
  exit 1
fi

export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -qq -y --no-install-recommends postgresql-common >/dev/null
# The package would create a cluster and start it at once; the tests create their own.
sed -i 's/^#\?create_main_cluster.*/create_main_cluster = false/' /etc/postgresql-common/createcluster.conf
apt-get install -qq -y --no-install-recommends postgresql-15 >/dev/null
echo 'PostgreSQL 15 is installed.'
