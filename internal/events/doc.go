// Package events says what happened: which events there are, what subscribers are told with each, and how one is written.
//
// Emit writes an event in the transaction that made it happen and calls the subscribers in it, one after the other: what one
// of them does commits with the event, and an error of one rolls everything back. The list of subscribers is set once, in
// cmd/atrium/wire.go. Webhooks are one. The package knows no queue and no transport.
//
// Domain packages name the events when they emit them (op.Tx.Emit), webhooks deliver them, and the AsyncAPI document is made
// from the same types, so that what is sent and what is documented cannot differ.
package events
