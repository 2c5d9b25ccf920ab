// Package decisionlog writes down what was decided: every refusal, with its audit entry, and a sample of what was allowed, by
// and by. Refusals can be looked up by the decisionId of their answer; drafts of policies can be tried on all of it (package
// policy). Package op makes the entries; nothing is decided here. Old entries go by a sweep of cmd/atrium.
package decisionlog
