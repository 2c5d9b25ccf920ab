// Package trial shows what a workflow would do before it is published.
//
//	definition, request or sample, answers ─▶ Try ─▶ steps: inputs, outputs, who is asked, what is sent; and where it stops
//
// It runs the engine as package execution does (execution.Rehearsal): the same steps, participants, templates and masks, with one phase
// for each step. What a run waits for comes at once: timers and deadlines pass, and tasks, approvals, calls and called workflows take the caller's answers
// (answers.go) or the last ones that people and servers gave in an execution of the workflow (last.go). Without an answer, the trial
// stops and names it. Nothing is stored, sent, charged or audited.
//
// A called workflow is not walked into: the step says which one would be started and with what, and takes an answer, like a call.
//
// In a block it answers one branch after the other, in their order, and lets the next moment come when all others wait for moments. It stops
// when no branch has an answer, and names the first that it needs.
//
// A trial opens no secret. Templates read random texts in place of their values, so that no expression tells anything about a secret,
// which publishing guards. What only the value decides is therefore not shown: a signing secret that is no base64, or a host that a
// secret makes.
//
// Send (send.go) goes as far as one call and makes it in earnest, with the company's secrets, for whoever may send them. The audit log has the
// phase and the host. Callers wait for at most 25 seconds, two of a company at once.
//
// Limits, besides those of every run: 1,000 phases, 3 seconds and a mebibyte of inputs and outputs.
package trial
