package agent

import (
	"atrium/ent"
	"atrium/internal/agent/interrupt"
	"atrium/internal/jobs"
)

// DigestOf is the digest of an action.
var DigestOf = digestOf

// RunJobs are as many jobs of a run as if it had been inserted, and taken over, that often.
func RunJobs(run *ent.AgentRun, n int) []jobs.Job {
	out := make([]jobs.Job, n)
	for i := range out {
		out[i] = jobs.Job{Args: interrupt.RunArgs{Company: run.CompanyID, Run: run.ID}}
	}
	return out
}
