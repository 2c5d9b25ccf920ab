// Package document shows invoices and credit notes to people: as pages, and as PDF files to file away.
//
//	GET /invoices/{id}                      the invoice as a page, with how it stands and its credit notes
//	GET /invoices/{id}.pdf                  the invoice as it was issued
//	GET /invoices/{id}/credit-notes/{n}     a credit note, by its number, as a page
//	GET /invoices/{id}/credit-notes/{n}.pdf and as a file
//
// Handler is a door of its own beside REST and GraphQL, because browsers follow links to it with nothing but the session's
// cookie, which is no credential under /v1. It takes the same credentials as GraphQL, runs billing.GetDocument, and so gives
// what invoice(id) would give to the same caller, and refuses what that refuses; there are no links that work without signing in.
//
// Both forms are made of one sheet (sheet.go). A PDF is the same to the byte whenever it is asked for, as long as the seller's
// lines (--invoice-from) are the same. It is written by go-pdf/fpdf with the Go fonts, which have Latin, Greek and Cyrillic
// letters: of other scripts a PDF shows boxes, while the page shows everything. Nothing of an invoice is logged.
package document
