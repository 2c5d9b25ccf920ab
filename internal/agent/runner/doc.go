// Package runner works the jobs that take the platform's own runs to their end: it plans, calls models, and stores or performs what was
// decided. Runs of CUSTOM agents it hands on as pushes.
//
// A run plans outside of any transaction and ends in one transaction together with its job. If its process is killed, it plans
// again and writes once.
//
// # The engine model
//
//	RUNNING → job agent_think: call the model, run its tools → store the turn with the next job → … → conclude, with the last turn
//
// One job makes one call, outside of transactions. Its answer, the results of its tools and the next job commit together. So a
// killed process repeats at most one call and no write, a stopped run does nothing more, and calls that take a minute delay
// nothing else (queue agent_models; on each node at most four of a company at a time). Only conclude performs writes, in the same
// ways as for the engine history.
package runner
