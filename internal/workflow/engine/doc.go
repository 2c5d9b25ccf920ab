// Package engine decides what an execution of a workflow does next. It is a function without I/O and clock:
//
//	Step(ctx, definition, state, input, env) → state, history, effects
//
// The worker in package workflow loads an execution, calls Step outside of any transaction, and commits what it returned in one
// short one; tests, dry runs and migrations between versions call it with values of their own. The same arguments
// always give the same result.
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
// Each entry into a phase is a visit, numbered from 1. Whatever comes from outside names the visit that it is for, so
// that what is late or repeated is ErrStale and changes nothing. A step that a crash interrupted is computed again
// from the state that was committed; nothing of the interrupted one was seen by anybody. Calls to the outside are effects like
// all others: they carry Key, which is the same for every attempt of a visit.
//
// Each phase type is one file with one value of the interface phase. What cannot go on (an expression that fails, a call after
// its retries, a participant who is not there) becomes an incident: the execution waits until somebody retries or skips
// the phase. Bounds: MaxVisits phases in all, MaxVariables bytes of variables, maxPhases phases a step.
package engine
