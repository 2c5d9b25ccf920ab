#!/usr/bin/env bash
# with-services.sh [--durable] CMD… runs CMD with a private PostgreSQL cluster on a free port of loopback, with its files in a
# temporary folder, and removes everything afterwards. CMD finds the cluster in ATRIUM_TEST_POSTGRES_URL; when that is already
# set, the cluster it names is used and none is started. Missing programs of PostgreSQL, Redis, Node, Chromium, Exim and Dovecot
# are installed from the system's packages. A test that needs a Redis or a mail server starts its own. Exits with CMD's status.
#
# By default PostgreSQL trades durability for speed, since its data is deleted after the run. --durable keeps the data on disk
# with the server's own settings, for measurements that must be realistic.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=.ci/packages.sh
. .ci/packages.sh

# Under /tmp whatever TMPDIR says: another user must be able to reach the folder, and the length of a socket's path is limited.
base=/tmp
fast=()
if [ "${1:-}" = --durable ]; then
  shift
else
  # Tests that make transactions wait for each other wait for this long until one is ended: a second by default.
  fast=(-c fsync=off -c synchronous_commit=off -c full_page_writes=off -c max_wal_size=256MB -c deadlock_timeout=50ms)
  # Each test has its own database, which is some hundred files. Copying them in memory, where there is enough of it, takes a
  # tenth of the time and does not wait for the disk that the compiler is using.
  shm_free=$(df --output=avail -k /dev/shm 2>/dev/null | tail -n 1) || shm_free=0
  [ "$shm_free" -lt $((4 * 1024 * 1024)) ] || [ ! -w /dev/shm ] || base=/dev/shm
fi
[ $# -gt 0 ] || { echo "usage: $0 [--durable] CMD…" >&2; exit 2; }

missing=()
if [ -z "${ATRIUM_TEST_POSTGRES_URL:-}" ] && ! postgres_bin >/dev/null; then missing+=(postgresql); fi
command -v redis-server >/dev/null || missing+=(redis-server)
# Third-party clients for tests: npm packages, and a browser to run them.
command -v npm >/dev/null || missing+=(nodejs npm)
command -v chromium-headless-shell >/dev/null || missing+=(chromium-headless-shell)
mail_host || missing+=(exim4-daemon-light dovecot-imapd dovecot-lmtpd dovecot-sieve python3-dkim)
[ ${#missing[@]} -eq 0 ] || install_packages "${missing[@]}"

# The same folder and port each time, where no other run has them: Go keeps the result of a package's tests for as long as neither the
# package nor the variables that it reads change, so that a second run takes only what a change has touched. ARGS=-count=1 runs all.
dir=$base/atrium-services
mkdir -m 700 "$dir" 2>/dev/null || dir=$(mktemp -d "$base/atrium-services.XXXXXX")
# Tests keep their files beside the cluster's, in memory where that is; and the processes of one run share migrated databases.
if [ ${#fast[@]} -gt 0 ]; then
  mkdir -m 1777 "$dir/tmp"
  mkdir "$dir/templates"
  export TMPDIR="$dir/tmp" ATRIUM_TEST_TEMPLATES="$dir/templates"
fi

# The guard runs in its own session and outlives this script, so that nothing stays behind even when the script is killed. It
# waits for the end of file on descriptor 9, which is therefore closed in every long-running child.
exec 9> >(exec setsid --wait .ci/guard.sh "$dir")
guard=$!
stop() {
  local status=$?
  trap '' INT TERM HUP
  exec 9>&-
  wait "$guard" || true
  exit "$status"
}
trap stop EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# PostgreSQL refuses to run as root; its package creates the user postgres.
as_owner() { "$@"; }
if [ "$(id -u)" -eq 0 ] && id postgres >/dev/null 2>&1; then
  chown postgres "$dir"
  chmod 711 "$dir"
  as_owner() { (cd "$dir" && exec runuser -u postgres -- "$@"); }
fi

# Below the system's ephemeral port range. If the port is taken, the start fails and another one is tried.
random_port() { echo $((20001 + RANDOM % 12000)); }

start_postgres() {
  local bin
  bin=$(postgres_bin) || { echo "No PostgreSQL 15 or later found, not even after installing the system's package." >&2; return 1; }
  as_owner "$bin/initdb" -D "$dir/pg" -U postgres --auth=trust -E UTF8 --locale=C --no-sync >"$dir/initdb.log" ||
    { cat "$dir/initdb.log" >&2; return 1; }
  # Only the owner of the socket's folder can connect as superuser; over the network only the tests' roles can.
  as_owner tee "$dir/pg/pg_hba.conf" >/dev/null <<'HBA'
local all all trust
host all atrium,atrium_backup 127.0.0.1/32 trust
HBA
  local port attempt
  for attempt in 1 2 3 4 5; do
    port=$(random_port)
    [ "$attempt" -gt 1 ] || [ "$dir" != "$base/atrium-services" ] || port=20000
    local options=(-p "$port" -k "$dir" -c listen_addresses=127.0.0.1 -c unix_socket_permissions=0700
      -c max_connections=400 -c shared_buffers=256MB -c timezone=UTC "${fast[@]}")
    if as_owner "$bin/pg_ctl" -D "$dir/pg" -l "$dir/postgres.log" -w -o "${options[*]}" start >/dev/null 2>&1 9>&-; then
      # Not a superuser: superusers bypass row-level security, so its tests would prove nothing. The role owns the database that
      # it connects to, so that a tool that needs one empty database finds it there.
      as_owner "$bin/psql" -qX -v ON_ERROR_STOP=1 -h "$dir" -p "$port" -U postgres -d postgres \
        -c 'CREATE ROLE atrium LOGIN CREATEDB NOSUPERUSER NOBYPASSRLS' -c 'ALTER DATABASE postgres OWNER TO atrium' \
        -c 'CREATE ROLE atrium_backup LOGIN BYPASSRLS IN ROLE pg_read_all_data'
      export ATRIUM_TEST_POSTGRES_URL="postgres://atrium@127.0.0.1:$port/postgres?sslmode=disable"
      return
    fi
  done
  echo "PostgreSQL did not start after $attempt attempts:" >&2
  cat "$dir/postgres.log" >&2
  return 1
}

[ -n "${ATRIUM_TEST_POSTGRES_URL:-}" ] || start_postgres

# In its own process group, so that a signal to this script ends everything that CMD started, at once.
set -m
"$@" </dev/null 9>&- &
child=$!
set +m
echo "$child" >&9
status=0
wait "$child" || status=$?
echo >&9
exit "$status"
