// Package policy holds the operations on access policies: writing policies, explaining why somebody may or may not do
// something, and trying a draft on past decisions.
//
// GraphQL calls it. It defines no semantics: package authz decides what a policy means (README.md in the folder
// policies documents the language), and package op applies policies to operations. This package imports authz, as
// only op and cmd do besides, because it evaluates drafts that are not in force.
//
//	policy.go    list, get, create, update, delete, with a version of each change
//	validate.go  the faults of a draft
//	explain.go   one decision, and every condition that did not hold
//	replay.go    a draft set applied to the decision log
//	decision.go  the log
package policy
