// Package apperr is the one error type of the product: a code, a public message and a wrapped cause.
//
// Domain code returns these; one switch in rest/ turns a code into an HTTP status, and one in graph/ into
// extensions.code. Error() is for logs and includes the cause; only Message, Details, Reason and DecisionID
// ever reach a caller. A leaf: it imports nothing of the product.
package apperr
