// Package apperr is the one error type of the product: a code, a public message and a wrapped cause.
//
// Domain code returns these errors; gate.StatusOf turns a code into an HTTP status, and package graph puts it into
// extensions.code. All exported fields of an Error reach the caller. Error() is for logs and includes the cause, which never
// reaches a caller. The package imports nothing of the product.
package apperr
