// Package runs holds the runs of agents: how they begin, what they may cost, who reads and stops them, and how they end. Package runner
// works them, package custom lets CUSTOM agents do so.
//
// All code holds an agent (FOR SHARE), then locks a request, its runs and their actions (Lock). A write reads its run and its agent
// in its own transaction, so nothing commits after stopAgentRun or pauseAgent has answered.
//
// # What interrupts a run
//
// RequestVersion is a digest of what people see of a request. A change of it makes pending actions STALE (RequestChanged,
// which every update of a request calls). A change by a signed-in person also stops the run; after any other change, also by a
// person's API key, a waiting run plans anew, and so does a CUSTOM agent's that has asked for a write. When an agent's owner leaves,
// its open runs are handed over (OwnerLeft).
//
// # Budgets
//
// A run plans at most 3 times (budget.go). A later plan goes on with the steps and the budgets of the earlier ones. An agent has
// runsPerDay, and a company has agentRunsPerDay (5000 by default). The two count the runs that were made in the last 24 hours and
// began to plan, on all nodes. A sandbox counts as a company of its own. A run beyond its budget is HANDED_OVER before it reads
// anything. Dry runs, replays and evaluations are not runs and do not count: an admin starts each of them.
//
// The jobs of runs have a lower priority the more runs of their company are queued (JobOf), so a company with thousands of them lets
// others go first. Jobs that end leases, approvals and consultations, and that give tasks to people, have a queue of their own.
//
// # Leases
//
// A run of a CUSTOM agent has a lease, which any call of the run renews (RenewLease): 10 s for the first call after a push, 5 min
// otherwise. When it is over, the run is handed over. So a run that nobody claims does not wait for ever, even if nothing is pushed.
package runs
