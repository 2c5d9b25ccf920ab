// Package custom lets the companies' own programs work the runs of their CUSTOM agents: the calls with an agent's key, the operations
// on its runs, and the pushes that tell it of them.
//
//	push or GET /v1/agent-runs → claim → RUNNING ─┬→ complete → PROPOSED, WAITING → COMPLETED, or HANDED_OVER
//	                                              ├→ handover, too many steps or minutes, the same write twice → HANDED_OVER
//	                                              └→ no call: for 10 s after a push, 5 min otherwise → HANDED_OVER
//
// A key belongs to a CUSTOM agent. For each call the gate asks As for the caller: it has the role and scopes of the
// published version, restricted to the key's scopes, and within a run its reads are also limited to what the requester may read.
// op then reads as the requester, with both row filters in the statement, and holds every write (Hold). A call with an
// agent's key never runs the function of an operation that writes, except for those in inbox.go, which no role may run. What was
// decided:
//
//   - If an agent sees as the requester and a call names no run, it can read only the agent's runs, because there is no
//     requester.
//   - A run changes only its own request, with the tools of its version and the fields that a model may set, too (tools.FieldsOf). A
//     requester with a weaker role than the agent's limits the reads. A CUSTOM agent names ids of its company's rows. They
//     are not held against what the run has read: its program may know teams from its own settings, where a model knows nothing
//     else, and a member's request would leave it none to name, because members do not read teams.
//   - An update by which nothing would change is a conflict, so no person is asked to approve nothing.
//   - The minutes of a run count from its claim, in each plan.
//   - The first sign of an agent is a call, not the answer to the push. So an endpoint that accepts runs but works on none is
//     also found within 10 s.
//   - A run that nobody claims within 5 minutes is UNRESPONSIVE even if nothing is pushed. So no run waits for ever.
//   - The rationale of a proposal is the result of the last step of kind decide, because the body of a write has no field for it.
//   - A key gets the scopes that the agent has at that moment. Like all keys, it cannot be created in a sandbox.
//   - In GraphQL a held write is an error with the code accepted, which contains the action.
//   - Pushes have a queue of their own, with a few places for each company, so endpoints that hang delay no planning. A push has up to
//     three attempts, signed like a webhook.
package custom
