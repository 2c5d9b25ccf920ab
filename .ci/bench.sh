#!/usr/bin/env bash
# bench.sh [FLAGS…] runs every benchmark against real services with durable settings; FLAGS go to `go test`.
# The comparison bench, when internal/bench is a program, runs last.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ "${1:-}" != --inside ]; then
  exec .ci/with-services.sh --durable .ci/bench.sh --inside "$@"
fi
shift

# Only packages with benchmarks: building the tests of the others would take minutes and measure nothing.
packages=$(git grep --untracked -lE '^func Benchmark' -- '*_test.go' | xargs -r -n 1 dirname | sort -u | sed 's|^|./|') || true
if [ -n "$packages" ]; then
  # One package at a time, so that they do not measure each other.
  # shellcheck disable=SC2086 # one argument a package
  go test -timeout 60m -p 1 -run '^$' -bench . "$@" $packages
fi
if [ "$(go list -f '{{.Name}}' ./internal/bench 2>/dev/null)" = main ]; then
  go run ./internal/bench
fi
