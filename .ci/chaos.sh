#!/usr/bin/env bash
# chaos.sh [ROUNDS] injects ROUNDS faults (default 20) into servers under load, on PostgreSQL through toxiproxy and on SQLite on a
# small disk, and then checks that each acknowledged write exists exactly once. ON=sqlite or ON=postgres selects one of them, and
# FAULT one fault by its name ("kill -9"). Everything stays on loopback. It mounts a small file system and needs root.
set -euo pipefail
cd "$(dirname "$0")/.."

export GOBIN="$PWD/.bin" ATRIUM_TOXIPROXY="$PWD/.bin/toxiproxy-server" ATRIUM_CHAOS_ROUNDS="${1:-20}"
export ATRIUM_CHAOS_FAULT="${FAULT:-}"
if [ ! -x "$ATRIUM_TOXIPROXY" ]; then
  go install github.com/Shopify/toxiproxy/v2/cmd/server@v2.12.0
  mv "$GOBIN/server" "$ATRIUM_TOXIPROXY"
fi
.ci/with-services.sh go test -tags faults -vet=off -count=1 -v -timeout 3h -run '^TestChaos$'"${ON:+/$ON}" ./cmd/atrium
