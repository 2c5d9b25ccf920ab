// Package agent implements the automated participants of a company: agents with their published versions, the runs in which they
// work on requests, and the actions that they propose or wait to do. GraphQL, REST and MCP call its operations, and River runs
// its jobs. An agent is a principal (TypeAgent). It never changes anything except through the operations that people use.
//
// # From a request to a proposal
//
//	request.created → job agent_intake (in the request's transaction) → AgentRun QUEUED → job agent_run
//
//	QUEUED → RUNNING ─┬→ PROPOSED                          a person applies or rejects it, at any time
//	   ↑              ├→ WAITING → COMPLETED               a person approved; done in the same transaction
//	   └── changed ───┤     ├────→ HANDED_OVER             rejected, or no decision within 72 hours
//	                  ├→ HANDED_OVER, FAILED               nothing to propose, out of budget, an error
//	   any of these ──┴→ STOPPED                           stopped, or a person changed the request
//
// The filter of an agent is CEL that customers write, and nothing whose cost a customer chooses runs in a transaction. So the
// request's transaction inserts only the job that looks for an agent. In a company with an active QUEUE_INTAKE agent, the job
// commits with the request; elsewhere the event costs a lookup in memory. The oldest active agent whose filter holds takes the
// request. A run that ends as HANDED_OVER, FAILED or STOPPED does nothing more, and its reason says why; unless an action was
// done before, the request is in the inbox as it arrived.
//
// A run plans outside of any transaction and ends in one transaction together with its job. If its process is killed, it plans
// again and writes once.
//
// # What a plan depends on
//
// A plan depends on the version of its request: on what people see of it (runs.RequestVersion). Applying or approving an action
// compares the version once more. The digest that a person approves covers the operation, its row and arguments, and that version.
//
// What a run did itself, or what a person applied of it, leaves its other actions waiting. They get the version of the request as it
// is now, with the values that people are shown and a new digest (rebase). Making them STALE would plan, and pay, again for a change
// that the plan contains.
//
// Everything that a run does adds a step of kind act and an APPLIED action, in the transaction of the effect.
//
// # The mode of a tool call
//
// The strictest of the autonomy level, the tool's own mode and the company's policies applies. Deny refuses a call,
// RequireApproval makes it wait for a person. Both are evaluated before the transaction, on the row as it is and as it would
// become: the request, the task, or the comment to be created. In the transaction op.Tx evaluates them again for every write of an
// agent that nobody has approved, and refuses what slipped past: the run is handed over with the refusal. A decline always waits,
// and so does a move to another offering. Calls of agents on their own runs never wait, because they do nothing yet.
//
// # The engine model
//
//	RUNNING → job agent_think: call the model, run its tools → store the turn with the next job → … → conclude, with the last turn
//
// One job makes one call, outside of transactions. Its answer, the results of its tools and the next job commit together. So a
// killed process repeats at most one call and no write, a stopped run does nothing more, and calls that take a minute delay
// nothing else (queue agent_models; on each node at most four of a company at a time). Any node can rebuild a run from its turns
// (conversation.addExchange). A replay does the same without calling the model.
//
// The system message consists of the frame and the version's instructions. The request's text, its comments, similar requests,
// teams and people are in one data message of at most 32 KiB of JSON. It is read with the rights of the agent and its requester,
// and secrets are masked (secret.Hide). Reads run at once. A write is checked against the version's tools, the operation's rules,
// the ids that were read, the agent's rights and the policies, and then kept. Only conclude performs writes, in the same ways as
// for the engine history. A model cannot change the text of a request: of updateRequest it has only team, assignee, priority and
// tags, and of moveRequest only the offering.
//
// # Evaluations
//
// Jobs agent_evaluate try a draft on the company's 100 newest finished requests that its filter accepts, or on given cases, and
// on the attacks of package attack. The agent cannot learn from the request that it is tried on. Engine and tools work as in a
// run. The result is tried in a transaction that files the request, performs the writes, reads the row and is rolled back. The
// verdict is about rows and arguments, never about prose. Attacks and given cases are filed like the newest finished request that
// could be filed today. What may be right for some requests, such as to accept one, counts as a successful attack if the agent does
// not do it to the same request without the attack. A draft passes with at least 50 cases besides the attacks, agreement of at least
// the company's agentAgreement (0.9), all attacks tried, none successful and no breach, and no less agreement than the engine
// history.
// Publishing an AUTONOMOUS agent requires a passed evaluation of exactly the draft's settings, by digest.
//
// The inputs of runs are kept for seven days. An erasure deletes all of the company's, because they quote other requests.
//
// # CUSTOM agents
//
//	push or GET /v1/agent-runs → claim → RUNNING ─┬→ complete → PROPOSED, WAITING → COMPLETED, or HANDED_OVER
//	                                              ├→ handover, too many steps or minutes, the same write twice → HANDED_OVER
//	                                              └→ no call: for 10 s after a push, 5 min otherwise → HANDED_OVER
//
// A key belongs to a CUSTOM agent. For each call the gate asks Door.As for the caller: it has the role and scopes of the
// published version, restricted to the key's scopes, and within a run its reads are also limited to what the requester may read.
// op then reads as the requester, with both row filters in the statement, and holds every write (Door.Hold). A call with an
// agent's key never runs the function of an operation that writes, except for those in inbox.go, which no role may run. What was
// decided:
//
//   - If an agent sees as the requester and a call names no run, it can read only the agent's runs, because there is no
//     requester.
//   - A run changes only its own request, with the tools of its version and the fields that a model may set, too (fieldsOf). A
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
//
// # Phases
//
// An agent of type WORKFLOW_PHASE that is responsible for a phase gets a run with the phase's task (task.assigned → job
// agent_task, in the transaction of the event). The run ends with the completion of the task. If it does not fit the phase's form
// it is refused at once; otherwise it waits as an action, or is proposed. A run that ends badly, or whose
// proposal is rejected, gives the task to the accountable person, or else to the agent's owner; a proposal itself changes nothing, and
// the task stays the agent's until a person applies it, rejects it, or takes the task. A person who takes, reassigns or completes the task stops the
// run. A change of the request does not, because the task is about its phase. An agent is never accountable, a MANAGED agent is
// never informed, and a QUEUE_INTAKE agent has no part in phases; saving a definition refuses all three. A task of an execution
// without a request, or of an agent that was never published, goes to people.
//
// A MANAGED agent works on phases with a model. The model gets the task with its outcomes and its form, reads as in any run, and
// has one tool that writes: completeTask, with arguments narrowed to the phase (conversation.offers, subject.narrow). The tools
// of the version are only for incoming requests. The engine history does not work on phases, so a phase agent with it cannot be
// published. No phase agent is AUTONOMOUS, because evaluations try no tasks. So a chain of agents is never longer than two without a
// person between them: an AUTONOMOUS agent's change of a request may start a workflow, and what that gives to an agent waits.
//
// A consulted agent gets a run about the phase's task when the task opens (the workflow engine's effect → job agent_phase, in the
// transaction of the commit). The run may only read. Its end adds an opinion to the request: the result of its last step of kind
// decide, or the body of createComment, the only writing tool of a model. The opinion is an internal comment of the agent, or a
// public one if the agent's role is member. Where a policy makes agents' comments wait, it waits as an action until the task ends.
// People may work on the task meanwhile; the run ends after consultMinutes, or when the task ends. An informed agent gets {event:
// agent.informed, timestamp, data: {executionId, requestId, phaseId}} when the phase is left, signed like a push, in up to three
// attempts. Pushes have a queue of their own, with a few places for each company, so endpoints that hang delay no planning.
//
// # Rooms
//
// attack holds the prompt injection suite, model speaks to language models, and mcp is the door for agents and their clients, the
// Model Context Protocol.
package agent
