# Sourced by the other scripts: installs a system package when the program it brings is missing.

# install_packages PACKAGE… installs packages of the system, as root or through sudo.
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
  # The log is shown only when it has something to say: apt's chatter would bury the tests.
  if ! { "${run[@]}" apt-get update && "${run[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y "$@"; } >"$log" 2>&1; then
    cat "$log" >&2
    rm -f "$log"
    echo "Could not install: $*" >&2
    return 1
  fi
  rm -f "$log"
}

# postgres_bin prints the folder of the newest PostgreSQL server programs, 15 or later; fails when there is none.
postgres_bin() {
  local dir major
  for dir in "$(pg_config --bindir 2>/dev/null || true)" $(printf '%s\n' /usr/lib/postgresql/*/bin | sort -Vr); do
    # pg_config also comes with the client library alone, so look for the server itself.
    [ -x "$dir/initdb" ] && [ -x "$dir/postgres" ] || continue
    major=$("$dir/postgres" --version | sed -E 's/^[^0-9]*([0-9]+).*/\1/')
    if [ "$major" -ge 15 ]; then
      echo "$dir"
      return
    fi
  done
  return 1
}
