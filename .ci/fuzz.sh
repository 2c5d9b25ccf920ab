#!/usr/bin/env bash
# fuzz.sh [TIME] runs the differential test of authz with ATRIUM_DIFFERENTIAL_CASES cases (2,000,000), the random workflows of the engine
# with ATRIUM_ENGINE_CASES cases (100,000), and then each fuzz target for TIME (default 30s); the first failure ends the run.
set -euo pipefail
cd "$(dirname "$0")/.."

targets=$(git grep --untracked -oE '^func Fuzz[A-Za-z0-9_]+' -- '*_test.go' |
  sed -E 's|^(.*)/[^/]*:func (.*)$|\1 \2|' | sort -u)
# The differential test of lists against single decisions, with as many cases as a night allows.
echo "== authz TestListsAndDecisionsAgree"
ATRIUM_DIFFERENTIAL_CASES=${ATRIUM_DIFFERENTIAL_CASES:-2000000} .ci/with-services.sh \
  go test ./authz -run '^TestListsAndDecisionsAgree$' -count 1 -timeout 60m
# Random blocks against an interpreter, trees of calls, and paths without blocks. A case is a workflow with one order of its inputs.
cases=${ATRIUM_ENGINE_CASES:-100000}
echo "== internal/workflow/engine, $cases cases of each"
go test ./internal/workflow/engine -run '^TestBlocksRunLikeTheInterpreter$' -count 1 -timeout 60m -rapid.checks "$(((cases + 19) / 20))" # of 20 orders each
go test ./internal/workflow/engine -run '^(TestTreesOfCalls|TestHistoryIsAPathOfTheDefinition)$' -count 1 -timeout 60m -rapid.checks "$cases"
while read -r package target; do
  echo "== $package $target"
  go test "./$package" -run '^$' -fuzz "^$target\$" -fuzztime "${1:-30s}" </dev/null
done <<<"$targets"
