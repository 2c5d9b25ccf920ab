// Package pack installs what a company needs to offer a service, from one file: teams, calendars, workflows, services with their
// offerings and forms, routing rules, replies, schedules, inbound webhooks and access policies. Twelve such files ship (files/, shipped.go).
//
//	read.go      a file, that is YAML of several documents, strictly: what is unknown is refused with its document and line
//	node.go      a document as the JSON that its create operation takes
//	text.go      the texts of a language in place of the English ones
//	order.go     what a document refers to, and the order in which documents can be created
//	kind.go      the kinds of documents, each with the operation that creates it
//	state.go     what of a file the company has already
//	plan.go      the operations that list packs and say what one would make
//	install.go   the operation that makes it
//	template.go  the operation that writes a service of the company as such a file (write.go)
//
// A document is the body of the API's create operation, with references such as Team/it-support where that has an id. To install a
// file is to run those operations in one transaction as the caller, so a right, a policy or the limit of a plan that refuses one of
// them leaves nothing, and each has its audit entry. What the company has already, by its slug or, where rows have none, by its name in
// any of the file's languages, stays as it is. So a repeat makes nothing.
//
// A file holds at most 256 KiB, 200 documents and 40 levels, without anchors, so it never grows while it is read. It is read and checked
// before the transaction, in a turn of the company's (op.Tx.Costly), its workflows' expressions included: only what depends on the
// company's rows is found inside. All workflows of a file together are no longer than a single one may be.
//
// People are never part of a file: a template leaves them out, and says where. Neither are secrets: an inbound webhook gets a new one, which
// its admin rotates to see it, or replaces by the sender's.
package pack
