#!/bin/sh
# Makes the role and the database of Atrium. The role is no superuser and has no BYPASSRLS, so that row-level security binds it,
# and owns its tables, so that it can make and drop partitions. The second role reads all rows, for pg_dump alone. It has no password: on
# this machine `pg_dump -U atrium_backup -Fc atrium` needs none, and for other machines give it one (ALTER ROLE … PASSWORD …).
set -eu
psql -v ON_ERROR_STOP=1 -v password="$ATRIUM_DB_PASSWORD" <<'SQL'
CREATE ROLE atrium LOGIN PASSWORD :'password' NOSUPERUSER NOBYPASSRLS;
CREATE DATABASE atrium OWNER atrium;
CREATE ROLE atrium_backup LOGIN BYPASSRLS IN ROLE pg_read_all_data;
SQL
