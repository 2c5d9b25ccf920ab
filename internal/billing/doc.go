// Package billing keeps a company's money: its subscription to a plan, its invoices, and the ledger of its credits.
//
//	plan.go          the plans, what they cost, and what is charged for the rest of a period
//	subscription.go  the operations that change or end a subscription; preview.go says what they would do
//	account.go       the account: one row a company, which all that moves money locks
//	ledger.go        credits: issued, applied to invoices oldest first, forfeited
//	invoice.go       invoices; draft.go those that the operator writes, operator.go what only the operator does with them
//	payment.go       the steps of charging what an invoice leaves to pay; charge.go takes them, with a Provider
//	journal.go       the same movements as double entries, so that the books can be held against each other
//	renew.go         the job that renews what has come to its end, and charges what is due
//
//	draft ──issue──▶ open ──paid, charged, credited whole──▶ paid
//	  │               ├──write off──▶ uncollectible ──paid──▶ paid
//	  └──void: gone   └──void──▶ void
//
// # Rules
//
// Plans are paid in advance, by calendar months in UTC counted from the moment at which the subscription began: one that began
// on 31 January renews on the last day of February and on 31 March. The first invoice comes with the subscription. Free plans
// have none, and the price of Enterprise is agreed on, so nothing is charged for it by itself.
//
// A change acts at once. The difference of the two prices for the seconds that are left of the period, rounded half up to a
// cent, is charged for a dearer plan and issued as a credit for a cheaper one. Ending a subscription issues no credit: the company
// is on the free plan from then on, and what is left of its credits is forfeited after 30 days of 24 hours unless it has
// subscribed again. An invoice takes from the credits first, the oldest first, and asks for the rest.
//
// # How it holds together
//
// Credits and invoices are numbered in a company without gaps, under the lock of its account. Entries, invoices and journal
// lines never change, but for an invoice's status. The account's balance, and how far the credits are used up, follow from the
// entries: they are kept in step in the same transaction, so that reading them costs the same after a million entries.
//
// settle brings an account up to a moment: it makes the invoices of all periods that have begun, and forfeits what is due. The
// job does it each minute, and every operation that moves money before it does anything else, so that the result does not
// depend on when the job ran, how often, or on how many nodes.
//
// # Corrections
//
// An issued invoice never changes in anything but how it stands; triggers of both databases refuse it. A credit note corrects
// it: it takes off what is left to pay, and what is more than that becomes a credit, since money is never paid out. Voiding gives
// back the credits that an invoice took, as a new entry. A draft has the number 0; issuing deletes it and makes the invoice under
// its id, so that drafts use up no numbers and no column of an invoice need ever be written twice.
//
// # Payment
//
// Without a Provider, which is the default, an invoice stays open until the operator says that it was paid (`atrium invoice
// pay`). With one, what the credits leave is charged to the payment method that the operator has set for the company:
//
//	begin: a pending payment is committed, with all that the provider will be asked for
//	  └▶ Provider.Charge, outside of any transaction, with the payment's id as the idempotency key
//	       └▶ settle: paid; or failed, tried again after 1, 3, 5 and 7 days, with a mail to the owners each time
//
// A process that ends in between leaves a pending payment. Nothing else happens to its invoice meanwhile: it is neither paid
// by hand, voided nor credited. After 10 minutes the provider is asked what it knows of the payment (Provider.Find), and asked
// for the money again only if it has never heard of it. What the provider tells by itself is no more than a reason to ask it
// (RecheckPayment), so its messages may come late, twice or in any order.
//
// Package document shows invoices and credit notes as pages and PDF files, package stripe is the Provider on Stripe.
//
// # Figures
//
// BenchmarkLedger, two cores that others used as well, 23 November 2026, milliseconds, the least of three:
//
//	                                 SQLite             PostgreSQL
//	entries                       1,000  1,000,000   1,000  1,000,000
//	balance and page 1             0.35    0.44       0.98    0.65
//	an invoice paid by credits     1.05    1.32       1.95    1.80
//	the same rows by hand          0.72    0.83       1.21    0.94
//
// What reading costs does not grow with the ledger: the balance stands in the account, and the history is an index that is
// walked from its end. An invoice costs its statements. By hand they are six, four of which PostgreSQL gets in one batch with
// the commit. Ours are two more, and wait for five answers; rows are inserted one by one, since Ent waits for those of a bulk,
// which was 0.3 of the applications a second by hand in place of 0.5 to 0.6 (SQLite: 0.6 to 0.7). The goal was 0.7; what is left
// of the way there is the company's row, read for its plan and name, and an update whose count Ent reads. At that speed the
// invoices of 10,000 companies take 20 seconds.
package billing
