// Package engine decides what an execution of a workflow does next. It is a function without I/O or clock:
//
//	Step(ctx, definition, state, input, env) → state, history, effects
//
// The worker in package execution loads an execution, calls Step outside of any transaction, and commits the result in a short
// one. Tests, dry runs and moves to other versions call Step with values of their own. The same arguments always give the same
// result.
//
// An execution stands in one phase at a time:
//
//	Begin ─▶ START ─▶ phase ─▶ phase ─▶ … ─▶ END            Status
//	                    │                                   RUNNING    Step may go on at once
//	                    ├─ completes at once: on            WAITING    for a task, approval, timer, call or incident
//	                    ├─ waits ──(input)──▶ on            COMPLETED  an END was entered
//	                    ├─ incident ──(Retry, Skip)──▶ on   FAILED     a rule failed for good, or a bound was exceeded
//	                    └─ fails                            CANCELLED  Cancel came
//
// Each entry into a phase is a visit, numbered from 1. Every input from outside names its visit, so a late or repeated input
// returns ErrStale and changes nothing. A step that a crash interrupted is computed again from the committed state; nobody has
// seen anything of the interrupted one. Calls to other servers are effects like all others: they carry Key, which is the same
// for every attempt of a visit.
//
// Each phase type is one file with one implementation of the interface phase. A failure (an expression that fails, a call
// without retries left, a missing participant) becomes an incident: the execution waits until somebody retries or skips the
// phase. Limits: MaxVisits phases in all, MaxVariables bytes of variables, maxPhases phases for each step.
package engine
