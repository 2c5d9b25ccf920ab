package runs

import (
	"github.com/riverqueue/river"

	"atrium/internal/agent/worker"
	"atrium/internal/workflow/execution"
)

// RunArgs is the job that takes a run to its end, or to the point where it waits for a person.
type RunArgs struct {
	Company  string `json:"company"`
	Run      string `json:"run"`
	Priority int    `json:"priority,omitempty"` // 1 (or 0) to 4: jobs with a lower one go first
}

// Kind names the job.
func (RunArgs) Kind() string { return "agent_run" }

// InsertOpts puts the job into the agents' queue.
func (a RunArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: execution.AgentQueue, Priority: a.Priority}
}

// ReleaseArgs is the job that gives a task to people: the task of a run that did not complete it, or one that its agent cannot
// work on.
type ReleaseArgs struct {
	Company string `json:"company"`
	Run     string `json:"run,omitempty"`
	Task    string `json:"task,omitempty"` // for a task without a run
}

// Kind names the job.
func (ReleaseArgs) Kind() string { return "agent_release" }

// InsertOpts puts the job into the queue of the deadlines, because somebody waits for the task.
func (ReleaseArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: worker.DeadlineQueue}
}
