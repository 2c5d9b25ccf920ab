// Package text holds the rules for text that several packages share.
//
//	text.go   truncating text that callers send, and the API's names of columns
//	charset.go bytes of others as text: in the charset that they name, or as escapes
//	email.go  validating and normalizing e-mail addresses
//	slug.go   deriving slugs from names
//	moment.go reading date-times
//	limits.go lengths of columns that several packages write
//
// The package imports nothing of the product, and never checks whether an address or slug is in use.
package text
