// Package billing keeps a company's money: the ledger of its credits.
//
// The ledger only grows. An issued entry is positive, one that was applied to an invoice negative, and the balance is
// their sum, in cents; nothing else holds a balance.
package billing
