#!/usr/bin/env bash
# upgrade.sh [COMMIT] builds the last release from git (or COMMIT), runs it and this tree side by side on one PostgreSQL under
# load, and replaces the nodes one after the other.
set -euo pipefail
cd "$(dirname "$0")/.."

commit=${1:-$(awk 'END { print $2 }' internal/platform/store/migrations/releases)}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
git archive "$commit" | tar -x -C "$dir"
go build -C "$dir" -o "$dir/previous" ./cmd/atrium
export ATRIUM_PREVIOUS="$dir/previous"
.ci/with-services.sh go test -tags faults -vet=off -count=1 -v -run '^TestRollingUpgrade$' ./cmd/atrium
