#!/usr/bin/env bash
# bench.sh [FLAGS…] runs every benchmark against real services with durable settings; FLAGS go to `go test`.
# The comparison bench, internal/test/bench, runs last.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ "${1:-}" != --inside ]; then
  exec .ci/with-services.sh --durable .ci/bench.sh --inside "$@"
fi
shift

# Only packages with benchmarks: building the tests of the others would take minutes and measure nothing.
packages=$(git grep --untracked -lE '^func Benchmark' -- '*_test.go' | xargs -n 1 dirname | sort -u | sed 's|^|./|')
# One package at a time, so that they do not measure each other.
# shellcheck disable=SC2086 # one argument a package
go test -timeout 60m -p 1 -run '^$' -bench . "$@" $packages
go run ./internal/test/bench
