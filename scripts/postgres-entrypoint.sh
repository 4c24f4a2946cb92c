#!/bin/bash
# Starts PostgreSQL in the container that scripts/container.sh makes, with the settings of the image `postgres` that compose.yaml uses.
set -euo pipefail
PGDATA=${PGDATA:-/var/lib/postgresql/data}
user=${POSTGRES_USER:-postgres}

if [ "$(id -u)" -eq 0 ]; then
  install -d -m 700 -o postgres -g postgres "$PGDATA" /var/run/postgresql
  [ -z "${POSTGRES_PASSWORD_FILE:-}" ] || export POSTGRES_PASSWORD=$(cat "$POSTGRES_PASSWORD_FILE")
  exec setpriv --reuid=postgres --regid=postgres --init-groups "$0" "$@"
fi
if [ ! -e "$PGDATA/PG_VERSION" ]; then
  initdb -D "$PGDATA" -U "$user" --auth-local=trust --auth-host=scram-sha-256 --encoding=UTF8 --locale=C.UTF-8 \
    --pwfile=<(printf '%s\n' "${POSTGRES_PASSWORD:?}") >/dev/null
  echo 'host all all all scram-sha-256' >>"$PGDATA/pg_hba.conf"
  pg_ctl -D "$PGDATA" -w -o '-c listen_addresses=' start >/dev/null
  [ "${POSTGRES_DB:-$user}" = postgres ] || createdb -U "$user" "${POSTGRES_DB:-$user}"
  pg_ctl -D "$PGDATA" -w stop >/dev/null
fi
exec postgres -D "$PGDATA" -c listen_addresses='*'
