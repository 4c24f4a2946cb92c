#!/usr/bin/env bash
# Installs what the cluster of the fault tests needs: Debian's PostgreSQL 15, Patroni, etcd, HAProxy and iproute2. Needs root and
# Debian 12; starts nothing and creates no cluster.
set -euo pipefail

packages=(postgresql-15 patroni python3-etcd etcd-server haproxy iproute2)

missing() {
  local program
  [ -x /usr/lib/postgresql/15/bin/postgres ] || echo postgresql-15
  for program in patroni etcd haproxy ip; do
    PATH=$PATH:/usr/sbin:/sbin command -v "$program" >/dev/null || echo "$program"
  done
  /usr/bin/python3 -c 'import etcd' 2>/dev/null || echo python3-etcd
}

if [ -z "$(missing)" ]; then
  echo 'PostgreSQL 15, Patroni, etcd and HAProxy are installed.'
  exit 0
fi
if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
  echo "Not installed: $(missing | xargs). Installing it needs root and apt-get." >&2
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
apt-get install -qq -y --no-install-recommends postgresql-common >/dev/null
sed -i 's/^#\?create_main_cluster.*/create_main_cluster = false/' /etc/postgresql-common/createcluster.conf
apt-get install -qq -y --no-install-recommends "${packages[@]}" >/dev/null
if [ -n "$(missing)" ]; then
  echo "Not installed: $(missing | xargs)." >&2
  exit 1
fi
echo 'PostgreSQL 15, Patroni, etcd and HAProxy are installed.'
