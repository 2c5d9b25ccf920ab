// Package company creates tenants and changes their settings. A tenant is a company with its sandbox, its owner, keys and an OAuth
// client. Package demo fills one for a first start.
//
// The command line and the sign-up pages call Create, which runs as the system principal because nobody can act in a company
// that does not exist. Get, Update, SetLimits and SetRetention are operations on an existing company. The settings of a live
// company also apply to its sandbox, whose row repeats them. The package never deletes a company, and changes no plan: billing
// does.
package company
