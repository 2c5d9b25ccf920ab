// Package document serves invoices and credit notes as HTML pages and as PDF files.
//
//	GET /invoices/{id}                           the invoice as a page, with its current state and its credit notes
//	GET /invoices/{id}.pdf                       the invoice as it was issued
//	GET /invoices/{id}/credit-notes/{n}          the credit note with the number n, as a page
//	GET /invoices/{id}/credit-notes/{n}.pdf      the same as a PDF file
//
// The server mounts Handler beside REST and GraphQL, because a browser that follows a link sends only the session cookie, which
// /v1 does not accept as a credential. Handler accepts the same credentials as GraphQL and runs billing.GetDocument, so it gives a
// caller the same invoices as the query invoice(id), and returns the same errors. There are no links that work without signing
// in.
//
// Both formats are made from one sheet (sheet.go), in the company's language and time zone as they are set when the document is read.
// The descriptions of lines stay as they were written when the invoice was issued. The bytes of a PDF never change as long as the
// seller's lines (--invoice-from), the font and the company's two settings stay the same. go-pdf/fpdf writes it with the Go fonts, which
// have Latin, Greek and Cyrillic letters. Other scripts appear as boxes in a PDF, while the page shows them, unless the operator names a
// font that has them (--invoice-font). No such font is in the binary, because one with Chinese, Japanese and Korean characters takes 4
// to 20 MB. fpdf shapes no text: scripts whose letters join, such as Arabic, are readable on the page only. The package never logs the
// content of an invoice, and changes none.
package document
