// Package execution runs workflows: it gives the pure engine (package workflow/engine) a database, a clock and the outside.
//
//	request.created ─▶ Follow ─▶ execution row + StepArgs          in the request's own transaction
//	StepArgs ─▶ load ─▶ engine.Step ─▶ commit                      computed outside of any transaction, committed in one
//	   ▲                                 │
//	   ├── a task, approval or incident ◀┤ rows; the operations on them insert the next StepArgs
//	   ├── a moment (timer, deadline) ◀──┤ the wait is in the execution's state; its job is scheduled
//	   └── CallArgs: a call's outcome ◀──┘ made between two commits
//
// StepArgs is level-triggered: it names an execution and says nothing of what happened. The worker looks at what the execution
// waits for and reads its inputs for the engine from the database (a completed task, decisions, a moment that has come). It
// computes until nothing more can be done, at most 100 phases for each commit. One transaction then writes the execution, its
// history, the effects, events, audit entries and further jobs. It checks the revision that was loaded: if another commit came first,
// the worker loads and computes again. So a job may run twice, concurrently, or for nothing, and a process may be killed at any point;
// River ends many of the jobs by one statement afterwards.
//
// An incident is resolved by RETRY, SKIP or MOVE, which continues the execution in another published version of its workflow
// (move.go). PreviewMove computes the same step as the worker will, without writing or calling, and so shows the phases up to where
// the execution would stop. If both versions have the phase with the same type, it is entered again in the same visit, so its call
// keeps its idempotency key. Variables of phases that the new version does not have are dropped; the history keeps them. What a
// resolution leaves out of what people decide or work (definition.Passed) asks the caller for the right to decide it (passed.go).
//
// In a block an execution waits in several phases at once. The worker reads the inputs of all open branches, takes a step by each of them in
// turn and commits them together (load.go, compute). A move takes place in the incident's branch alone, and is refused if another branch could
// not stay where it is (immovable). The job of a commit ends with it, so if another branch waits for a moment that is near, the commit inserts
// a job for it (plan.wake).
//
// A CALL_WORKFLOW starts an execution (called.go). The commit that enters the phase inserts its row and its first job, under an id that
// follows from the visit and its attempt, with the request of the caller. The commit by which it ends, or is cancelled, inserts a job for the
// caller, which reads how it stands from its row. Whoever closes the visit cancels it in the same transaction, and what it waits for in turn.
// A transaction that locks several executions locks callers before what they call. A call is refused, as an incident, if the workflow is
// not active, at a depth of more than five, and once an execution has started 1,000 others with theirs.
//
// A Rehearsal computes and masks like a worker, on rows that are nowhere stored: package trial shows with it what a draft would do.
//
// Rows that a phase opens (tasks, approvals, incidents) carry the number of the visit and its attempt. This pair identifies the row
// that the execution waits for. It is unique, so no row is opened twice.
//
// What a task or an approval shows of earlier results (shown*.go) is read from the visits before its own, which do not change any more, and named by
// the outline of the version. Nothing of it is stored with the row: a copy would be one more place that erasures and masking have to reach. The
// branches of visits and their numbers tell what was passed on the way, so no definition is compiled for it. A page of rows takes five
// statements, and one more for versions that the process has not read yet. A visit looks back at 500 others at most. What somebody has given
// for a phase when they resolved an incident is no visit's, and is not shown. The mails of tasks and approvals list the same (shownmail.go).
//
// The service levels of a phase bind the task that it opens (taskclock.go), by the rules of package sla. The response target is met
// when somebody takes the task, and the clock pauses while the task's request waits. The people accountable for the phase are
// notified when the phase or its request misses a target (breach.go).
//
// A person whom a phase asks may read the request (package participant). When approvers leave the company or their team so that an
// approval can no longer be given, it becomes an incident: the operation that removes them makes the executions check
// (ApproversLeft). The check reads outside of the commit's transaction. The commit holds the rows of the users whom it asks, so none is
// deactivated meanwhile; if somebody leaves a team at the very moment in which an approval opens, only the next decision notices it.
//
// A transaction that locks both locks the request before the execution, so that no two transactions deadlock.
//
// Expressions, forms and calls never run in a transaction. If the expressions of a commit take more than 5 ms together, the commit
// is computed again as the company's costly work (op.Engine.Costly), and its job snoozes until the company's turn comes. A call is
// made between two commits, under an idempotency key that is the same for every attempt of a visit; if a process dies between the
// call and the commit, the attempt is made again. Its results are masked with all secrets of the company before the engine
// sees them (secret.Use), and what a commit stores is, too (hide.go): people, forms and webhooks bring secrets as well.
//
// # Priorities
//
// Steps wait in two queues. One holds steps that people wait for: first steps, and steps after a task, a decision or a
// resolution. The other, for bulk work, holds steps of which one company may have thousands: first steps once the company has 64
// executions running, timers and continuations. The more executions of a company run, the lower the priority of its next first
// step: from 1 it falls to 2, 3 and 4 at 16, 64 and 256 of them (start.go); 3 and 4 go to the bulk queue. A node works twice as
// many bulk steps at once as it has processors, since they wait for the database more than they compute, and no more, so that another
// company's first step finds the database free. Of a company's executions whose documents have 32 KiB and more, one is stepped at a
// time, because a mebibyte takes tens of milliseconds of a processor; the others snooze for 100 ms. Outside calls have 64 workers of their
// own, of which a company takes 40 at most (calling.go); half as many of their outcomes commit at once as there are processors.
//
// # Observability
//
// An execution is one OpenTelemetry trace. The trace id derives from the execution's id, so every node adds to the same trace and
// nothing is stored (trace.go). Each phase that a commit enters or leaves is a span with company, workflow, version, phase, attempt
// and outcome; an outside call is a client span with method, host and status. The job that a person's call inserts carries the
// traceparent, and the step's first span links to it. No span or label contains text from requests, variables or secrets. A step
// that was not committed leaves no span except its outside call. The parent of all spans has no span of its own and is marked as
// sampled: a sampler that follows the parent keeps every execution. Metrics are in measure.go.
//
// # Figures
//
// 2026-11, two busy cores, `make bench`.
//
// A burst of executions of 20 computing phases makes 4,400 transitions a second on SQLite and 2,700 on PostgreSQL, and one of executions
// of four phases 290 and 210 executions. This is 2.9 and 1.8, 0.19 and 0.13 times the rate at which River works empty jobs. With one
// bulk step at once on two processors it was 3,400 and 1,400, 175 and 97 in the same run; with eight it is 4,800 and 3,200, 320 and 220,
// which was refused for what it does to neighbours on PostgreSQL.
// If 18 of the phases call a server over TLS, each in a job and two commits of its own, it is 240 and 140 to 150.
//
// From the filing of a request to its first task, with one filed every 10 ms, p50 is 21 to 29 ms on SQLite and 5 to 10 ms on
// PostgreSQL. With 100,000 waiting executions and 10,000 timers it is 0.8 to 1.1 times that. While 100,000 small executions of another
// company run, it is 0.6 times that on SQLite and 2.2 times on PostgreSQL, 25 ms (1.1 and 1.4 with one bulk step at once).
// While 100,000 executions of another company make calls, it is 1.6 and 2.6 times that. When up to 64 of their commits ran at once,
// it was 9 to 32 and 18 times, for twice the calls a second on PostgreSQL; with two at once, 2.8 to 3.7 and 4 times. On SQLite the
// main cause was that River's connection found the file locked (store/sqlite_turn.go).
package execution
