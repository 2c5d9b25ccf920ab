// Package principal says who is calling. Authentication turns API keys, bearer tokens and sessions into one Principal, which
// travels in the context (With, From). Everything below the APIs reads it from there. The package authenticates nobody and
// decides nothing about rights.
//
// A Principal belongs to one company, and the tenancy guards in ent/schema restrict each statement to that company. Some
// principals come from no caller: Worker and WorkerAs are for background work within one company, Operator is for the command
// line, and System may cross companies. System needs a reason, and callers_test.go lists all its calls.
//
//	principal.go  the caller, and its bypass of tenancy, if any
//	scope.go      the scopes of keys and tokens
//
// The package imports nothing of the product, so that ent/schema can import it.
package principal
