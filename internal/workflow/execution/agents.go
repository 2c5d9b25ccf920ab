package execution

import "github.com/riverqueue/river"

// AgentQueue is the queue of the jobs that agents plan in. It is separate so that computations delay no other jobs.
const AgentQueue = "agents"

// The jobs by which an execution involves agents. Package agent works them, and this package knows nothing else of it.

// AgentTaskArgs is the job about a task that was assigned or has ended.
type AgentTaskArgs struct {
	Company string `json:"company"`
	Task    string `json:"task"`
}

// Kind names the job.
func (AgentTaskArgs) Kind() string { return "agent_task" }

// InsertOpts puts the job into the agents' queue.
func (AgentTaskArgs) InsertOpts() river.InsertOpts { return river.InsertOpts{Queue: AgentQueue} }

// AgentPhaseArgs is the job that consults an agent about the task of a phase, or informs it that the phase was left.
type AgentPhaseArgs struct {
	Company   string `json:"company"`
	Execution string `json:"execution"`
	Phase     string `json:"phase"`
	Visit     int    `json:"visit"`
	Role      string `json:"role"` // consulted or informed
	Agent     string `json:"agent"`
}

// Kind names the job.
func (AgentPhaseArgs) Kind() string { return "agent_phase" }

// InsertOpts puts the job into the agents' queue.
func (AgentPhaseArgs) InsertOpts() river.InsertOpts { return river.InsertOpts{Queue: AgentQueue} }
