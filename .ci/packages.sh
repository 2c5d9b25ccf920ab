# Sourced by the other scripts. It installs system packages when the programs that they contain are missing.

# install_packages PACKAGE… installs system packages, as root or through sudo.
install_packages() {
  local run=()
  if ! command -v apt-get >/dev/null; then
    echo "Missing: $*. This system has no apt-get: install them by hand and run again." >&2
    return 1
  fi
  if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
      echo "Missing: $*. Run this as root, or install them first: apt-get install $*" >&2
      return 1
    fi
    run=(sudo)
  fi
  echo "installing $*" >&2
  local log
  log=$(mktemp)
  # What is installed does not start by itself: the tests start what they need, and a mail server is nobody's business on port 25.
  local policy=/usr/sbin/policy-rc.d made=
  if [ ! -e "$policy" ]; then
    made=1
    printf '#!/bin/sh\nexit 101\n' | "${run[@]}" tee "$policy" >/dev/null
    "${run[@]}" chmod 755 "$policy"
  fi
  # The log is shown only on failure: apt's output would hide that of the tests. Nothing is removed for it, such as another mail server.
  local status=0
  { "${run[@]}" apt-get update && "${run[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-remove "$@"; } >"$log" 2>&1 || status=$?
  [ -z "$made" ] || "${run[@]}" rm -f "$policy"
  if [ "$status" -ne 0 ]; then
    cat "$log" >&2
    echo "Could not install: $*" >&2
  fi
  rm -f "$log"
  return "$status"
}

# mail_host tells whether the mail servers are there that tests start for themselves, and a second implementation of DKIM, which is one of
# the system's own Python.
mail_host() {
  [ -x /usr/sbin/exim4 ] && [ -x /usr/sbin/dovecot ] && [ -x /usr/lib/dovecot/imap ] && [ -x /usr/lib/dovecot/lmtp ] &&
    [ -e /usr/lib/dovecot/modules/lib90_sieve_plugin.so ] && /usr/bin/python3 -c 'import dkim' 2>/dev/null
}

# postgres_bin prints the folder of the newest PostgreSQL server programs, version 15 or later; it fails when there are none.
postgres_bin() {
  local dir major
  for dir in "$(pg_config --bindir 2>/dev/null || true)" $(printf '%s\n' /usr/lib/postgresql/*/bin | sort -Vr); do
    # pg_config also comes with the client library alone, so check for the server itself.
    [ -x "$dir/initdb" ] && [ -x "$dir/postgres" ] || continue
    major=$("$dir/postgres" --version | sed -E 's/^[^0-9]*([0-9]+).*/\1/')
    if [ "$major" -ge 15 ]; then
      echo "$dir"
      return
    fi
  done
  return 1
}
