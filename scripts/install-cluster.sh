#!/usr/bin/env bash
# Installs what the cluster of the fault tests needs: Debian's PostgreSQL 15, Patroni, etcd, HAProxy and iproute2. Needs root and
# Debian 12; starts nothing and creates no cluster.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/apt.sh"

missing() {
  local program
  [ -x /usr/lib/postgresql/15/bin/postgres ] || echo postgresql-15
  for program in patroni etcd haproxy ip; do
    PATH=$PATH:/usr/sbin:/sbin command -v "$program" >/dev/null || echo "$program"
  done
  /usr/bin/python3 -c 'import etcd' 2>/dev/null || echo python3-etcd
}

[ -z "$(missing)" ] || from_debian postgresql-15 patroni python3-etcd etcd-server haproxy iproute2
if [ -n "$(missing)" ]; then
  echo "Not installed: $(missing | xargs)." >&2
  exit 1
fi
echo 'PostgreSQL 15, Patroni, etcd and HAProxy are installed.'
