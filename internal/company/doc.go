// Package company makes and keeps tenants: a company with its sandbox, its owner, keys and an OAuth client, and for a first
// start the demo content.
//
// The command line and the sign-up pages call Create, which works as the system principal: a company that is being made
// has nobody yet who could act in it. Get, Update and SetLimits are operations on a company that is there. The settings
// of a live company hold for its sandbox, whose row repeats them.
package company
