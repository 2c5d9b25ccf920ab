package agent

import (
	"atrium/ent"
	"atrium/internal/agent/runs"
	"atrium/internal/platform/jobs"
)

// For tests.
var (
	DigestOf       = runs.DigestOf
	Edited         = edited
	RequestVersion = runs.RequestVersion
)

const NobodyAnswers = runs.NobodyAnswers

// RunJobs returns n jobs for a run, as if it had been inserted or taken over n times.
func RunJobs(run *ent.AgentRun, n int) []jobs.Job {
	out := make([]jobs.Job, n)
	for i := range out {
		out[i] = jobs.Job{Args: runs.RunArgs{Company: run.CompanyID, Run: run.ID}}
	}
	return out
}
