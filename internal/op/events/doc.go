// Package events defines the events: which there are, the payload of each, and how one is written.
//
// Emit writes an event in the transaction that made it happen and calls the subscribers in it, one after the other. What
// they do commits with the event, and an error of one rolls everything back. cmd/atrium/wire.go sets the list of subscribers
// once; webhooks are one. The package knows no queue and no transport.
//
// Domain packages name the events when they emit them (op.Tx.Emit), and webhooks deliver them. The AsyncAPI document is
// generated from the same types, so that payloads and documentation cannot differ.
package events
