#!/usr/bin/env bash
# chaos.sh [ROUNDS] lets ROUNDS faults (20) happen to servers under load, on PostgreSQL through toxiproxy and on SQLite on a small disk,
# and balances the books; ON=sqlite or ON=postgres takes one of them. All of it stays on loopback. It mounts a tmpfs, as root.
set -euo pipefail
cd "$(dirname "$0")/.."

export GOBIN="$PWD/.bin" ATRIUM_TOXIPROXY="$PWD/.bin/toxiproxy-server" ATRIUM_CHAOS_ROUNDS="${1:-20}"
if [ ! -x "$ATRIUM_TOXIPROXY" ]; then
  go install github.com/Shopify/toxiproxy/v2/cmd/server@v2.12.0
  mv "$GOBIN/server" "$ATRIUM_TOXIPROXY"
fi
.ci/with-services.sh go test -tags faults -vet=off -count=1 -v -timeout 3h -run '^TestChaos$'"${ON:+/$ON}" ./cmd/atrium
