// Package policy holds the operations on access policies: writing them, asking why somebody may or may not do
// something, and trying a draft on what was decided before.
//
// The doors and the console call it. It holds no semantics: what a policy means is decided by package authz, whose
// language README.md in the folder policies teaches, and where policies enter an operation is package op's matter. It
// imports authz, as besides op and cmd nothing does, because a draft is evaluated without being in force.
//
//	policy.go    list, get, create, update, delete, with a version of each change
//	validate.go  what would be said of a draft
//	explain.go   one decision, and every condition that did not hold
//	replay.go    a draft set over the decision log
//	decision.go  the log
package policy
