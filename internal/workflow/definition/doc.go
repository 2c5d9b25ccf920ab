// Package definition reads workflow definitions: it refuses definitions that could not run, and compiles the others.
//
// Package workflow calls Parse when a definition is saved, and looks up the rows that References lists. Package execution
// calls Parse when it loads a published version; the engine then follows phases and evaluates expressions. This package
// reads no database and no clock, makes no call, and never changes a definition: it is returned as it was sent.
//
// The phase types and the ways out that they take:
//
//	START ── next ──►                          DECISION ─┬─ rules[i].transition ──►   the first rule that holds
//	                                                     └─ default ──────────────►   else
//	PROCESS ─┬─ <outcome> ──►   the task's
//	         └─ next ───────►   none given     DATA ─┬─ next ─────►
//	                                                 └─ invalid ──►                   onInvalid: route
//	TIMER ── next ──►
//	                                           API_CALL ─┬─ next ────────────────────────►
//	WEBHOOK_CALLOUT ── next ──►                          └─ statusRules[i].transition ──►
//
//	CALL_WORKFLOW ── next ──►                  APPROVAL ─┬─ approved ──►
//	                                                     ├─ rejected ──►
//	END   (none)                                         └─ expired ───►              with a deadline
//
// Every way out in this drawing must exist, except "next" of a PROCESS, and "next" of an API_CALL whose status rules cover
// every 2xx. Transitions that are not in the drawing are refused.
//
// A block runs branches at once. It names its branches and its end, a JOIN, which names where it leads; no transition leaves either:
//
//	PARALLEL ─┬─ branches[0].start ──► … ─┐            FOR_EACH ─── start ──► … ───┐     once for each item
//	          ├─ branches[1].start ──► … ─┼─► JOIN ─┬─ next ────►                  └─► JOIN
//	          └─ branches[2].start ──► … ─┘         └─ failed ──►                        with onFault cancel
//
// A branch is what its start leads to without the end. The graph of a block is closed: only the block leads into its branches, which share
// no phase, and only they lead to its end, from each of their phases (blocks.go). So a phase stands in at most one branch of each block
// (Phase.Within), and blocks nest.
//
// A PROCESS and an APPROVAL may name the phases whose results they show (shows.go). These must lead to it, and stand in no other branch of a
// block around it. What people are told of phases is read by OutlineOf, which compiles nothing.
//
// Variables of expressions (CEL): request, execution.id, webhook, input, and phases.<id> of the definition's own phases; input is what a
// CALL_WORKFLOW of another workflow gave, and empty in an execution that nobody called;
// secrets.NAME in the templates of API_CALL and WEBHOOK_CALLOUT; response in the response expressions of API_CALL.
// The known fields of each have types, so that `when: "request.title"` is refused when it is saved. Values whose type is
// only known at run time (a field of the form, a webhook's body, a phase's variable) are allowed everywhere.
//
// What CEL leaves to authors is done for them: an int computes with a double (number.go), because numbers of forms and bodies are
// doubles, and functions on texts take whole ones; what an object does not have is null, as what was sent as null, and so is what is read
// of null (absent.go): a comparison with it is false, and computing with it an error that names what was not given; and
// webhook.headers.x-github-event names a header (headersByName).
//
// An evaluation takes at most 50 ms, and has limits for what it compares, matches and returns (bounds.go); beyond them it is
// an error. The worst expressions found take 110 ms, including their second try on a busy machine. Without the limits, an
// equality of grown lists never ended and a pattern took 20 s. An ordinary comparison takes 5 µs (BenchmarkWorst,
// BenchmarkBool, 2 cores, 2026-11).
//
// Faults are rows of details, one for each, and name a field as it was sent: "definition.phases[review].config.title",
// "definition.transitions[3].to", "definition". A row names the faulty key, id or transition, and repeats no other value.
package definition
