#!/usr/bin/env bash
# soak.sh [ROUNDS] runs on both databases: ROUNDS (default 10000) races of stopAgentRun against writes, as many attempts to have
# something else executed than what was approved, and ten times as many random cases of what agents may read. It also prints and bounds
# what a company takes beside another that spends its whole allowance on each dear thing. ON=sqlite or ON=postgres selects one database.
set -euo pipefail
cd "$(dirname "$0")/.."

export ATRIUM_SOAK_ROUNDS="${1:-10000}"
.ci/with-services.sh go test -vet=off -count=1 -v -timeout 3h -p 1 \
  -run '^(TestStopAgainstWrites|TestNothingButWhatWasApproved|TestAnAgentsListIsWhatBothMayRead|TestNeighbour)$'"${ON:+/$ON}" ./internal/agent ./internal/test/apitest/doors
