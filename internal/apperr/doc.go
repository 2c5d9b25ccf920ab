// Package apperr is the one error type of the product: a code, a public message and a wrapped cause.
//
// Domain code returns these; gate.StatusOf turns a code into an HTTP status, and package graph puts it into extensions.code.
// Error() is for logs and includes the cause, which never reaches a caller; all fields of an Error do. A leaf: it imports
// nothing of the product.
package apperr
