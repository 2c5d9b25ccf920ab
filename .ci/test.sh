#!/usr/bin/env bash
# test.sh [FLAGS…] vets everything, then runs every test against real services; FLAGS go to `go test`. PKG="./internal/desk/request …" takes
# these packages alone. It does not vet when LINTED is set, because the linter includes vet.
set -euo pipefail
cd "$(dirname "$0")/.."

for flag in "$@"; do
  if [ "$flag" = -race ] && ! command -v "$(go env CC)" >/dev/null; then
    # Only the race detector needs a C compiler.
    # shellcheck source=.ci/packages.sh
    . .ci/packages.sh
    install_packages gcc libc6-dev
    export CGO_ENABLED=1
  fi
done

# The compiler and the tests collect garbage a quarter as often: the processors are scarcer here than memory.
export GOGC=400

if [ "${1:-}" != --inside ]; then
  # shellcheck disable=SC2086 # one argument a package
  [ -n "${LINTED:-}" ] || go vet ${PKG:-./...}
  exec .ci/with-services.sh .ci/test.sh --inside "$@"
fi
shift

# -vet=off, because vet has already run. -w leaves out what only a debugger reads: each of some 60 binaries links in three quarters of
# the processor's time.
tests() { go test -vet=off -ldflags=-w -timeout 45m -parallel 3 "$@"; }
if [ -n "${PKG:-}" ]; then
  # shellcheck disable=SC2086
  tests "$@" $PKG
  exit
fi

# Two packages at a time, each with its own databases and servers, and three tests of each: many wait more than they compute. Those
# of the binary, with its browsers, have the machine to themselves.
status=0
# shellcheck disable=SC2046 # one argument a package
tests -p 2 "$@" $(go list ./... | grep -v '/cmd/atrium$') || status=$?
tests "$@" ./cmd/atrium || status=$?
exit "$status"
