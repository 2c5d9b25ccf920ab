// Package actions holds what agents propose, and what they wait to do: how it is stored, how people apply, reject and decide it, and how
// it is done and recorded in the steps of its run. Nothing here decides for an agent.
//
// Everything that a run does adds a step of kind act and an APPLIED action, in the transaction of the effect. An action that waits for
// a person expires after 72 hours.
//
// # What an action depends on
//
// Applying or approving an action compares the version of its request once more. The digest that a person approves covers the
// operation, its row and arguments, and that version.
//
// What a run did itself, or what a person applied of it, leaves its other actions waiting. They get the version of the request as it
// is now, with the values that people are shown and a new digest (Rebase). Making them STALE would plan, and pay, again for a change
// that the plan contains.
package actions
