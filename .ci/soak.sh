#!/usr/bin/env bash
# soak.sh [ROUNDS] runs ROUNDS (10000) races of stopAgentRun against writes and as many approvals of something else, and ten times as many
# random cases of what agents may read, on both databases; ON=sqlite or ON=postgres takes one of them.
set -euo pipefail
cd "$(dirname "$0")/.."

export ATRIUM_SOAK_ROUNDS="${1:-10000}"
.ci/with-services.sh go test -vet=off -count=1 -v -timeout 3h -p 1 \
  -run '^(TestStopAgainstWrites|TestNothingButWhatWasApproved|TestAnAgentsListIsWhatBothMayRead)$'"${ON:+/$ON}" ./internal/agent ./internal/apitest/doors
