// Package op is the one way in. Every operation of the product is declared once, beside its domain, as a value of this
// package; REST's route table, the GraphQL resolvers and the command line run that value and hold no rule of their own.
//
// Run goes through the same steps for each:
//
//	principal → right (scope, role) → the input's rules → access policies (which rows are visible) → preparation → begin
//	          → earlier answer for the idempotency key → load the row → right to the row, recent proof, policies on the row
//	          → If-Match → the function (it emits events and inserts jobs) → policies on the result → audit entry
//	          → answer kept → commit
//
// A step that refuses ends the call; nothing of it stays but the audit entry of a denial or a conflict, written on its
// own. An operation that is about no existing row asks for the role's right before its function. Reads have no preparation,
// no transaction and no kept answer, and are audited only when they are denied.
//
// # Work in the background
//
// A worker of a job opens a transaction within one company by Engine.Work, and does there what an operation's function does,
// under the same guards: it runs operations (RunIn), emits events and inserts jobs. When it completes its own job in the same
// transaction, everything is done once, wherever its process is killed:
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
// audit log names it. RunIn takes no engine, because an operation's function may run
// another operation as well, and has its transaction only.
//
// # What customers make dear
//
// Preparation runs before the transaction; what takes more than a millisecond of it runs in the company's turn (Tx.Costly). A
// statement that policies narrow has a deadline, and where they are slow a turn of its own kind (bound.go). Rows that a call
// refers to are decided about before its transaction, so that statements within do not evaluate slow policies (foresee).
//
// # What stands where
//
// Packages of the domain import op. op imports the store, authz, and River's types for jobs, but no package of the domain. What
// inserts jobs, seals secrets and mails is an interface of its own (queue.go, run.go, mailer.go). Of the domain's rows it knows
// users and teams: policies compare their memberships (policy.go, package rights). It does not know who listens to events.
package op
