// Package op is the one way in. Every operation of the product is declared once, beside its domain, as a value of this
// package; REST's route table, the GraphQL resolvers and the command line run that value and hold no rule of their own.
//
// Run goes through the same steps for each:
//
//	principal → scope → validate the input → begin → load the row → role and rows → If-Match → the function
//	          → audit entry, events, first answer (idempotency) → commit
//
// A step that refuses ends the call; nothing of it stays but the audit entry of a denial or a conflict, written on its
// own. Reads have no transaction and are audited only when they are denied.
//
// Packages of the domain import op; op imports the store and authz and knows no domain.
package op
