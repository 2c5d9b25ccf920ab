package agent

import (
	"atrium/ent"
	"atrium/internal/platform/jobs"
)

// For tests.
var (
	DigestOf       = digestOf
	Edited         = edited
	RequestVersion = requestVersion
)

const NobodyAnswers = nobodyAnswers

// RunJobs returns n jobs for a run, as if it had been inserted or taken over n times.
func RunJobs(run *ent.AgentRun, n int) []jobs.Job {
	out := make([]jobs.Job, n)
	for i := range out {
		out[i] = jobs.Job{Args: RunArgs{Company: run.CompanyID, Run: run.ID}}
	}
	return out
}
