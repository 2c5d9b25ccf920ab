#!/usr/bin/env bash
# soak.sh [ROUNDS] runs on both databases: ROUNDS (default 10000) races of stopAgentRun against writes, as many attempts to have
# something else executed than what was approved, and ten times as many random cases of what agents may read. It also prints and bounds
# what a company takes beside another that spends its whole allowance on each dear thing; and KILLS (default 500) kills of nodes that work
# executions, those of branches and those that call workflows, and as many of those that work mail, imports, reports, schedules, inbound
# calls, agents and mails that wait, twelve to a world; 200 kills of a server between real mail servers; and 100 uploads of 25 MiB at once.
# ON=sqlite or ON=postgres selects one database.
set -euo pipefail
cd "$(dirname "$0")/.."

export ATRIUM_SOAK_ROUNDS="${1:-10000}"
.ci/with-services.sh go test -vet=off -count=1 -v -timeout 3h -p 1 \
  -run '^(TestStopAgainstWrites|TestNothingButWhatWasApproved|TestAnAgentsListIsWhatBothMayRead|TestNeighbour)$'"${ON:+/$ON}" ./internal/agent ./internal/test/apitest/doors
export ATRIUM_TEST_KILLS="${KILLS:-500}"
.ci/with-services.sh go test -vet=off -count=1 -v -timeout 3h \
  -run '^(TestProcessesAreKilled|TestProcessesWithBranchesAreKilled|TestProcessesThatCallAreKilled)$'"${ON:+/$ON}" ./internal/workflow/execution
export ATRIUM_TEST_KILLS=12 # of a world: more mails would be more than people may send
.ci/with-services.sh go test -vet=off -count=$(((${KILLS:-500} + 11) / 12)) -v -timeout 3h -p 1 \
  -run '^(TestNodesAreKilled|TestProcessesAreKilled|TestNodesOfAgentsAreKilled|TestNodeIsKilledAtEachBoundary)$'"${ON:+/$ON}" \
  ./internal/notify/mailbox ./internal/notify/notice ./internal/desk/requestimport ./internal/desk/reportmail ./internal/workflow/schedule ./internal/webhook/inbound ./internal/agent
export ATRIUM_SOAK_ROUNDS=200
.ci/with-services.sh go test -vet=off -count=1 -v -timeout 3h -run '^TestKilledWhileMailComes$'"${ON:+/$ON}" ./cmd/atrium
export ATRIUM_SOAK_ROUNDS=100
.ci/with-services.sh go test -vet=off -count=1 -v -timeout 1h -run '^TestUploadsAtOnce$' ./cmd/atrium
