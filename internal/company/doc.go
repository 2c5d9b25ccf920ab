// Package company makes tenants: a company with its sandbox, its owner, keys and an OAuth client, and for a first start
// the demo content. The command line calls it; it works as the system principal, because a company that is being made
// has nobody yet who could act in it.
package company
