// Package decisionlog records access decisions: every refusal, together with its audit entry, and a sample of what was
// allowed, later in batches. A refusal can be looked up by the decisionId of its answer; drafts of policies can be tried on
// all recorded decisions (package policy). Package op makes the entries; this package decides nothing. A sweep of cmd/atrium
// deletes old entries.
package decisionlog
