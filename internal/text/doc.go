// Package text holds the few rules for texts that several packages need.
//
//	text.go   cutting what callers fill columns with, and the API's names of columns
//	email.go  addresses, as they are compared
//	slug.go   slugs, as companies choose them or names give them
//
// A leaf: it imports nothing of the product.
package text
