// Package op is the only way to run an operation. Each operation of the product is declared once, beside its domain, as a value
// of this package; REST's route table, the GraphQL resolvers and the command line run that value and hold no rule of their own.
//
// Run goes through the same steps for each:
//
//	principal → scope → the input's rules → access policies (which rows are visible) → preparation → begin
//	          → earlier answer for the idempotency key → load the row → the role's right to the row, recent proof, policies
//	          on the row → If-Match → the function (it emits events and inserts jobs) → policies on the result → audit entry
//	          → may the caller read what it has created → answer kept → commit
//
// A step that refuses ends the call. Nothing of the call is stored except the audit entry of a denial or a conflict and the line of
// the decision log, which are written on their own. An operation that is about no existing row checks the role's right before its function runs. The answer to
// an idempotency key is kept for 24 hours. Recent proof is a sign-in of at most 15 minutes ago, for the verbs that
// policies/data.json lists (fresh.go). Reads have no preparation, no transaction and no stored answer, and are audited only when
// they are denied. A replica of the database may answer reads that are not about one row (store.Read): it shows everything that
// was committed before the call. It never answers what decides about a call.
//
// # Rights
//
// Package authz decides; op asks it at three places of a call and filters its queries. These are the words:
//
//	decide      may this caller call it: scopes, kind of caller and role, for each verb of the operation (run.go); Admit does so
//	            before a door reads a body
//	mayReach    does the role reach this row: all rows, those of the caller, those assigned to it (tx.go)
//	mayTouch    do the policies let the caller read the row and do this to it as it is; mayBegin, where there is no row (policy.go)
//	mayLeave    do they allow the row as it becomes
//	mayGive     do they let the caller read the row that it creates
//	narrow      put the policies' filter on the caller's queries; Unfiltered takes it off for one query, Visible gives it to a
//	            hand-written one
//	secondLook  tell a hidden row from one that does not exist
//	may.go      tells a page beforehand what its caller may do, others.go what somebody else may
//
// # Rooms
//
//	audit        writing audit entries; merkle is the tree that proves them
//	auditlog     the operations that read, export and prove the log
//	decisionlog  the lines of decisions
//	events       the events, their payloads, and how one is written
//	input        binding and checking inputs
//	paging       lists, look-ups, cursors
//
// # Work in the background
//
// The worker of a job opens a transaction within one company with Engine.Work. There it does what an operation's function does,
// under the same guards: it runs operations (RunIn), emits events and inserts jobs. When it completes its own job in the same
// transaction, all of this happens exactly once, no matter where its process is killed:
//
//	type opener struct {
//		river.WorkerDefaults[openArgs]
//		engine *op.Engine
//	}
//
//	func (w *opener) Work(ctx context.Context, job *river.Job[openArgs]) error {
//		return w.engine.Work(ctx, job.Args.Company, "opener", func(ctx context.Context, tx *op.Tx) error {
//			s, err := op.RunIn(ctx, tx, service.Open, service.OpenInput{Name: job.Args.Name})
//			if err != nil {
//				return err // the operation's refusal rolls everything back
//			}
//			if err := tx.Emit(ctx, "service.opened", s.ID, map[string]string{"id": s.ID}); err != nil {
//				return err
//			}
//			if err := tx.Insert(ctx, checkArgs{Service: s.ID}, tx.Now(ctx)); err != nil {
//				return err
//			}
//			return tx.Complete(ctx, job.JobRow)
//		})
//	}
//
// Rights are checked when a caller causes the job. The worker itself has all rights in its company (principal.Worker), and the
// audit log names it. RunIn takes no engine, because an operation's function may run another operation as well, and has only
// its transaction.
//
// # Work whose cost customers choose
//
// Preparation runs before the transaction, except that RunIn prepares in the transaction that is open. Preparation that takes
// more than a millisecond runs as costly work, one at a time for each company and on half of the processors for all of them
// (Tx.Costly). A caller whose turn does not come within 5 s, or 250 ms inside a write transaction, is refused. A call whose row
// keeps changing is prepared at most 5 times. A statement that policies narrow has 2 s. Where the policies are slow it waits in a
// queue of its own, or has 50 ms if it runs inside a write (bound.go). Policies compile before a write's transaction
// (authz.Engine.Ready); what a decision costs is bounded. A preparation that calls other servers (Calling) comes after the rights to the row,
// and not at all where an answer is kept for the idempotency key.
//
// # Dependencies
//
// Domain packages import op. op imports the store, authz, and River's types for jobs, but no domain package. Inserting jobs,
// sealing secrets and mailing are interfaces (queue.go, run.go, mailer.go). Of the domain's rows op knows users and teams,
// because policies compare their memberships (policy.go, policycache.go). It does not know who subscribes to events.
package op
