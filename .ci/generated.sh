#!/usr/bin/env bash
# generated.sh runs all generators and fails, listing the files, when that changes anything. It compares the working tree before
# and after, not with the last commit, so it works on uncommitted changes. The tests of internal/platform/store/migrategen check that the
# migrations cover every change of ent/schema.
set -euo pipefail
cd "$(dirname "$0")/.."

snapshot() {
  git ls-files -z --cached --others --exclude-standard | sort -z | xargs -0 sha256sum 2>/dev/null || true
}

# GraphiQL and the web console are bundled from npm packages. The console's bundler needs Node 20.19 or later; Debian 12's package
# is older.
# shellcheck source=.ci/packages.sh
. .ci/packages.sh
command -v npm >/dev/null || install_packages nodejs npm
node -e 'const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 20 || (a === 20 && b >= 19) ? 0 : 1)' ||
  { echo "generated.sh needs Node 20.19 or later; this is $(node --version)" >&2; exit 1; }

before=$(snapshot)
go generate ./...
after=$(snapshot)
if [ "$before" != "$after" ]; then
  echo "Generated files were not current; commit what has changed:" >&2
  diff <(echo "$before") <(echo "$after") | sed -nE 's/^[<>] [0-9a-f]+  /  /p' | sort -u >&2
  exit 1
fi
