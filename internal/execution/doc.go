// Package execution runs workflows: it gives the pure engine (package workflow/engine) a database, a clock and the outside.
//
//	request.created ─▶ Follow ─▶ execution row + StepArgs          in the request's own transaction
//	StepArgs ─▶ load ─▶ engine.Step ─▶ commit                      computed outside of any transaction, committed in one
//	   ▲                                 │
//	   ├── a task, approval or incident ◀┤ rows; the operations on them insert the next StepArgs
//	   ├── a moment (timer, deadline) ◀──┤ the wait is in the execution's state; its job is scheduled
//	   └── CallArgs: a call's outcome ◀──┘ made between two commits
//
// StepArgs is level-triggered: it names an execution and says nothing of what happened. The worker looks at what the
// execution waits for, takes what it finds as the engine's input (a completed task, decisions, a moment that has come), and
// computes on until there is nothing more, at most 100 phases a commit. One transaction then writes the execution, its history,
// what the effects are, events, audit entries and further jobs, and completes the job. It does so under the revision that was
// loaded: where another commit came between, the worker loads and computes again. A job may therefore run twice, two at once,
// or for nothing, and a process may be killed anywhere.
//
// An incident is resolved by RETRY, SKIP or MOVE: the execution then goes on by another published version of its workflow (move.go).
// PreviewMove computes the same step as the worker will, without writing or calling, and so shows the phases up to where the execution
// would stand. A phase that both versions have, with one type, is entered again in the same visit: its call keeps its idempotency key.
// What phases left behind that the version does not have is dropped from the variables; the history keeps it.
//
// Rows that a phase opens (tasks, approvals, incidents) carry the number of the visit and its attempt. That pair tells which
// row the execution waits for, and is unique, so that none is opened twice.
//
// The service levels of a phase bind the task that it opens (taskclock.go), by the rules of package sla: the response is when
// somebody takes it, and it stands still while its request waits. Those who are accountable for the phase are told when a target
// of it or of its request is missed (breach.go).
//
// Whom a phase asks may read the request (package party). An approval that cannot be given any more, since approvers left the company
// or their team, becomes an incident: who leaves has the executions look again (ApproversLeft). The check reads outside of the
// commit's transaction: somebody who leaves in the very moment in which an approval opens is seen at its next decision only.
//
// The request is locked before the execution wherever both are, so that no two transactions wait for each other.
//
// Expressions, forms and calls never run in a transaction. A commit whose expressions take more than 5 ms together is computed
// again in the company's turn of costly work (op.Engine.Costly), and its job is snoozed while the company has none. A call is made
// between two commits, under an idempotency key that is the same for every attempt of a visit; a process that dies between the call
// and the commit makes the attempt once more. Secrets are opened for the moment of the call, and whatever it leaves behind is
// masked before the engine sees it.
//
// # Who goes first
//
// Steps wait in two queues. What people wait for (first steps, what follows on a task, a decision or a resolution) is in one; the
// other has what one company may have thousands of: first steps once it has 64 executions under way, timers and continuations. Of
// these a node works half as many at once as it has processors, so that a neighbour's first step finds a worker, a processor
// and the database free. A company alone on a node pays for that with some of its rate. Outside calls have 64 workers of their own;
// what they came to is committed by as many at once as do bulk work.
//
// # How it is seen
//
// An execution is one trace of OpenTelemetry, whose id follows from its own: every node adds to the same one, and nothing is stored
// (trace.go). Each phase that a commit enters or leaves is a span, with company, workflow, version, phase, attempt and outcome; an
// outside call is a client span with method, host and status. The job that a person's call inserts carries the traceparent, and the
// step's first span is linked to it. No span or label has what was written into requests, variables or secrets. What
// was not committed leaves no span, besides its outside call. The parent of all spans has no span of its own, and says that the
// trace is sampled: a sampler that goes by the parent keeps every execution. Metrics are in measure.go.
//
// # Figures
//
// 2026-11, two busy cores, `make bench`. A burst of executions of 20 phases that compute makes 3,000 to 3,700 transitions a second on
// SQLite and 1,600 on PostgreSQL (2.6 and 0.9 of the jobs that River works when they do nothing; 1,900 on PostgreSQL before bulk work
// had a queue of its own); where 18 of the phases call a server over TLS, each in a job and two commits of its own, 240 and
// 140 to 150. From the filing of a request to its first task, one filed every 10 ms, p50 is 21 to 29 ms on SQLite and 5 to 10 ms on
// PostgreSQL; with 100,000 executions that wait and 10,000 timers, 0.9 to 1.1 times that. While another company's executions are
// worked, it is 0.8 to 1.5 times that on SQLite and 1.1 to 1.6 times on PostgreSQL where these compute (4.6 and 16 before;
// on a machine that others load as well, up to 2.7 and 2.9). Where they call, it is 1.8 to 3.7 and 1.4 to 2.5 times that. With up to 64 of
// their commits under way at once it was 9 to 32 and 18 times, for twice the calls a second on PostgreSQL; of two at once, 2.8 to 3.7 and
// 4 times. On SQLite most of it was that River's connection found the file taken (store/sqlite_turn.go).
package execution
