// Package definition reads workflow definitions: it refuses what could not run, and compiles the rest.
//
// The workflow service calls Parse when a definition is saved, and looks up what References lists; the engine calls
// Parse when it loads a published version, and then follows phases and evaluates expressions. The package reads no
// database and no clock, makes no call, and never changes a definition: it is read back as it was sent.
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
//	END   (none)                               APPROVAL ─┬─ approved ──►
//	                                                     ├─ rejected ──►
//	                                                     └─ expired ───►              with a deadline
//
// A way out that stands in this drawing must be there, but for "next" of a PROCESS, and "next" of an API_CALL whose
// status rules take every 2xx. A transition that does not stand in it is refused.
//
// Variables of expressions (CEL): request, execution.id, webhook, and phases.<id> of the definition's own phases;
// secrets.NAME in the templates of API_CALL and WEBHOOK_CALLOUT; response in the response expressions of API_CALL.
// The known fields of each have types, so that `when: "request.title"` is refused when it is saved. What only shows
// when it runs (a field of the form, a webhook's body, a phase's variable) may stand anywhere.
//
// An evaluation takes at most 50 ms, and is bounded in what it compares, matches and gives (bounds.go): what is dearer is an
// error. The worst found take 110 ms with their second try on a busy machine, where an equality of grown lists never ended
// and a pattern took 20 s; an ordinary comparison takes 5 µs (BenchmarkWorst, BenchmarkBool, 2 cores, 2026-11).
//
// Faults are rows of details, one for each, and name a field as it was sent: "definition.phases[review].config.title",
// "definition.transitions[3].to", "definition". A row names the key, the id or the transition at fault; it repeats no
// other value.
package definition
