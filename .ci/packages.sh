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
  # The log is shown only on failure: apt's output would hide that of the tests.
  if ! { "${run[@]}" apt-get update && "${run[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y "$@"; } >"$log" 2>&1; then
    cat "$log" >&2
    rm -f "$log"
    echo "Could not install: $*" >&2
    return 1
  fi
  rm -f "$log"
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
