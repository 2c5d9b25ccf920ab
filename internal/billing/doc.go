// Package billing keeps a company's subscription to a plan, its invoices, and the ledger of its credits. GraphQL, REST and
// the command line call its operations, and a job renews and charges. It never pays money out, and stores no card data.
//
//	plan.go          the plans, their prices, and the proration of a change
//	subscription.go  the operations that change or end a subscription; preview.go computes what they would do
//	account.go       the account: one row per company, which every operation that moves money locks
//	parts.go         which invoice bills which part of the plan's price, and what a cheaper plan leaves unused of each
//	ledger.go        credits: issued, applied to invoices oldest first, forfeited
//	invoice.go       invoices; draft.go: invoices that the operator writes; operator.go: operations that only the operator may run
//	payment.go       the steps of charging the amount due of an invoice; charge.go runs them with a Provider
//	journal.go       the same movements in double entry, so that the books can be checked against each other
//	renew.go         the job that renews subscriptions, forfeits credits and charges invoices
//
//	draft ──issue──▶ open ──paid, charged, credited whole──▶ paid
//	  │               ├──write off──▶ uncollectible ──paid──▶ paid
//	  └──void: gone   └──void──▶ void
//
// # Rules
//
// Plans are paid in advance, by calendar months in UTC counted from the moment at which the subscription began: one that began
// on 31 January renews on the last day of February and on 31 March. The first invoice comes with the subscription. The free plan
// has no invoices. The price of Enterprise is agreed on with the operator, so the product does not charge for it.
//
// A change takes effect at once. The difference of the two prices for the remaining seconds of the period, rounded half up to a
// cent, is charged for a more expensive plan. For a cheaper one it is unused, and a credit note for each invoice that billed some of
// it takes it off what is left to pay; only what was paid, in money or credits, becomes a credit. Cancelling a subscription issues no
// credit.
// Either way to the free plan ends the subscription: the remaining credits are forfeited after 30 days of 24 hours unless the company
// subscribes again. An invoice uses the credits first, oldest first; the rest is the amount due.
//
// # Consistency
//
// Credits and invoices of a company are numbered without gaps, under the lock of its account. Entries, invoices and journal
// lines never change, except for an invoice's status. The account's balance, and the position up to which credits are used, follow
// from the entries. The same transaction updates them, so reading them costs the same after a million entries.
//
// settle brings an account up to date: it makes the invoices of all periods that have begun, and forfeits expired credits. The
// job runs it each minute, and every operation that moves money runs it first. So the result does not depend on when the job
// ran, how often, or on how many nodes.
//
// # What is unused
//
// The price of the current plan is made of parts: the invoice of the month bills the price of its plan, and each change to a more
// expensive plan bills the difference. The account keeps them (parts.go), at most one for each plan that costs something. A cheaper plan
// lowers the parts from the top, so that each invoice is corrected by what is unused of itself, and no invoice for what another one
// billed. Nothing is given for the part of an invoice that was voided. One that was written off is reduced like an open one. So a
// credit is never more than what was paid of its invoice, and void and write-off have nothing to take back. Earlier
// versions gave a credit whether or not anything was paid; those credits stay, and parts of their periods are derived from the invoices.
// A correction by the operator counts against what can be given back of the invoice, not against the price.
//
// # Corrections
//
// Of an issued invoice only the status ever changes; triggers in both databases enforce that. A credit note corrects an invoice:
// it reduces the amount left to pay, and the rest of the note becomes a credit, since money is never paid out. Voiding an invoice
// gives its applied credits back as a new entry. A draft has the number 0. Issuing deletes the draft and creates the invoice under
// the draft's id, so drafts use no numbers and no column of an invoice is written twice.
//
// # Payment
//
// Without a Provider, which is the default, an invoice stays open until the operator records its payment (`atrium invoice pay`).
// With one, the amount due after credits is charged to the payment method that the operator has set for the company:
//
//	begin: commits a pending payment with everything that the provider will be asked for
//	  └▶ Provider.Charge, outside of any transaction, with the payment's id as the idempotency key
//	       └▶ settle: paid; or failed, and retried after 1, 3, 5 and 7 days, with a mail to the owners each time
//
// If the process ends in between, the payment stays pending. Until its outcome is known, its invoice can be neither paid by hand,
// voided nor credited by the operator. A change to a cheaper plan still reduces it: what the charge then takes beyond what is left
// becomes a credit. After 10 minutes the job asks the provider for the payment's outcome (Provider.Find), and asks for the money
// again only if the provider does not know the payment. A message from the provider only triggers such a check (RecheckPayment),
// so messages may come late, twice or in any order.
//
// Package document shows invoices and credit notes as pages and PDF files. Package stripe implements Provider with Stripe.
//
// # Figures
//
// BenchmarkLedger in milliseconds, the best of three runs, on two cores shared with other work, 23 November 2026:
//
//	                                 SQLite             PostgreSQL
//	entries                       1,000  1,000,000   1,000  1,000,000
//	balance and page 1             0.35    0.44       0.98    0.65
//	an invoice paid by credits     1.05    1.32       1.95    1.80
//	the same rows by hand          0.72    0.83       1.21    0.94
//
// Reads do not get slower as the ledger grows: the balance is a column of the account, and the history is read from the end of an
// index. The cost of an invoice is its statements. By hand there are six, and PostgreSQL gets four of them in one batch with the
// commit. The product runs two more, and waits for five answers. It inserts rows one by one, because Ent waits for the result of a
// bulk insert: with bulk inserts it applied credits at 0.3 times the rate of the rows by hand, and now at 0.5 to 0.6 times (SQLite:
// 0.6 to 0.7). The goal was 0.7. The remaining difference is a read of the company's row, for its plan and name, and an update
// whose row count Ent reads. At this speed the invoices of 10,000 companies take 20 seconds.
package billing
