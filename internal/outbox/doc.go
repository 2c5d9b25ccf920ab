// Package outbox writes what happened where webhooks pick it up: the event, one delivery for each subscription that asks
// for it, and one job for each delivery, all in the transaction that made it happen. If that commits, every delivery
// will be attempted; if it does not, none ever is.
//
//	Emit: events row ─▶ webhook_deliveries rows (PENDING) ─▶ river_job rows ── commit ─▶ the workers are told
//
// op.Tx.Emit calls it for operations; jobs that emit outside of an operation call it themselves. It costs a company
// without subscriptions one statement, which on PostgreSQL travels with others. The jobs are written in SQL rather than
// by River's client, because who is subscribed is not known before the statement that makes the deliveries; a test holds
// such rows against River's own. The package never delivers anything: that is internal/webhook.
package outbox
