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

# ticks says how long the processors have been busy and idle; phase runs a part of the tests, and says how long it took and how busy the
# processors were, with whatever else runs on the machine.
ticks() { awk '/^cpu / { printf "%d %d\n", $2 + $3 + $4 + $7 + $8 + $9, $5 + $6 }' /proc/stat; }
phase() {
  local began=$SECONDS result=0 from to
  read -ra from < <(ticks)
  "${@:2}" || result=$?
  read -ra to < <(ticks)
  local busy=$((to[0] - from[0])) idle=$((to[1] - from[1]))
  echo "$1: $((SECONDS - began)) s, processors busy $((100 * busy / (busy + idle + 1))) %" >&2
  return "$result"
}

# The tests of the binary, with its browsers, have the machine to themselves. They are linked beside the others, which wait more than
# they compute, and begin when this file is there. Go keeps their result for as long as its path is the same.
export ATRIUM_TEST_AFTER="${TMPDIR:-/tmp}/atrium-others-are-done"
rm -f "$ATRIUM_TEST_AFTER"
said=$(mktemp)
# Two hours are from its start, with the wait.
(exec go test -vet=off -ldflags=-w -timeout 2h -parallel 3 "$@" ./cmd/atrium >"$said" 2>&1) &
binary=$!
trap 'kill "$binary" 2>/dev/null || true; rm -f "$said" "$ATRIUM_TEST_AFTER"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
of_binary() {
  touch "$ATRIUM_TEST_AFTER"
  tail -s 0.2 --pid="$binary" -n +1 -f "$said"
  wait "$binary"
}

# The packages that take longest come first, so that none is left at the end with one processor idle. What bounds times against a
# neighbour's (doors) does not run beside what computes most (agent).
slowest=(internal/agent internal/notify/mailbox rest internal/test/apitest/doors internal/workflow/execution internal/desk/pack graph
  internal/webhook internal/platform/store/migrategen)
mapfile -t packages < <(printf 'atrium/%s\n' "${slowest[@]}"; go list ./... | grep -vxF -e atrium/cmd/atrium "${slowest[@]/#/-eatrium/}")

# Two packages at a time, each with its own databases and servers, and three tests of each: many wait more than they compute.
status=0
phase "all but the binary" tests -p 2 "$@" "${packages[@]}" || status=$?
phase "the binary" of_binary || status=$?
exit "$status"
