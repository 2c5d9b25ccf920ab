// Package principal says who is calling. API keys, bearer tokens and sessions all become one Principal, which
// travels in the context (With, From); everything below the APIs reads it from there.
//
// A Principal belongs to one company, and the guards of tenancy in ent/schema narrow each statement to it. These make
// one that no caller sent: Worker and WorkerAs for work in the background of one company, Operator for the command line, System for
// what crosses companies and gives its reason, of which callers_test.go keeps the list.
//
//	principal.go  who calls, as whom, and why it may cross companies
//	scope.go      the scopes of keys and tokens
//
// A leaf: it imports nothing of the product, so that ent/schema may read it.
package principal
