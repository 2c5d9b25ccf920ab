// Package engine decides what an execution of a workflow does next. It is a function without I/O or clock:
//
//	Step(ctx, definition, state, input, env) → state, history, effects
//
// The worker in package execution loads an execution, calls Step outside of any transaction, and commits the result in a short
// one. Tests, dry runs and moves to other versions call Step with values of their own. The same arguments always give the same
// result.
//
// Outside of blocks, an execution stands in one phase at a time:
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
// # Blocks
//
// A block is a PARALLEL with its branches, or a FOR_EACH with one branch for each item, and everything in them up to their JOIN. While an
// execution stands in one, its State holds a Block, and each Branch of that holds a State of its own. A branch is advanced by the same
// functions as the execution (run), one level further in; blocks inside of branches are the same again:
//
//	State{Visit: prepare, Block}                       the visit of the block lasts until it is left
//	 ├─ Branch "Laptop" State{Visit: order, Wait}      waits for its task
//	 ├─ Branch "Access" State{Visit: each, Block}      a FOR_EACH in a branch
//	 │   ├─ Branch "1"  State{Visit: clean, Wait}
//	 │   └─ Branch "2"  State{COMPLETED, Phases}       has come to the end of its block
//	 └─ Branch "Desk"   State{Visit: rest, Wait}
//
// Visits are numbered over all of them, so an input finds its branch by the number of its visit. After an input, a step goes through the
// branches in their order and lets each go on as far as it can (advanceBranches). It begins further items of a FOR_EACH as places become
// free. As soon as enough branches have completed, it closes the others and enters the JOIN (settle), in the same step.
//
// Expressions in a branch read the variables of the states around it, the item, and what the branch has written itself. Others read this
// after the JOIN. MaxVariables limits all states together, MaxVisits and maxPhases count the phases of all branches.
//
// A fault in a branch whose block, or one around it, has onFault cancel fails the branch; the innermost such block closes its branches
// and is left for its JOIN, which goes on by failed. Otherwise an incident makes its branch wait alone. What fails the execution fails it
// from any branch.
//
// # Calls of workflows
//
// A CALL_WORKFLOW starts an execution of another workflow, whose id follows from the visit and its attempt (CalledID), and waits for
// Returned: of one that has ended or, with wait false, of any. The called execution is a State of its own, with Input, and leaves the status of
// the request to its caller (Env.Called). CloseOpen of the waiting visit cancels it, with a reason in its history.
//
// Each phase type is one file with one implementation of the interface phase. A failure (an expression that fails, a call
// without retries left, a missing participant) becomes an incident: the execution waits until somebody retries or skips the
// phase. Limits: MaxVisits phases in all, MaxVariables bytes of variables, maxPhases phases for each step.
package engine
