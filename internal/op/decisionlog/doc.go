// Package decisionlog records access decisions: every refusal, together with its audit entry, and a sample of what was
// allowed (1 % in `atrium serve`), later in batches. A refusal can be looked up by the decisionId of its answer; drafts of
// policies can be tried on all recorded decisions (package policy). Package op makes the entries; this package decides
// nothing. Entries are kept for 30 days, and 10,000 for each company; a sweep that cmd/atrium registers deletes the others.
package decisionlog
