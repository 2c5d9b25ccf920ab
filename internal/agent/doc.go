// Package agent keeps the automated participants of a company and what they do: agents with their published versions, the runs
// in which they work requests, and the actions that they propose or wait to do. The GraphQL door calls it, and River works its
// jobs. An agent is a principal (TypeAgent) and changes nothing but by the operations that people use; there is no second way in.
//
// # From a request to a proposal
//
//	request.created → job agent_intake (in the request's transaction) → AgentRun QUEUED → job agent_run
//
//	QUEUED → RUNNING ─┬→ PROPOSED                          a person applies or rejects, whenever
//	   ↑              ├→ WAITING → COMPLETED               a person approved; done in that transaction
//	   └── changed ───┤     ├────→ HANDED_OVER             rejected, or 72 hours without a decision
//	                  ├→ HANDED_OVER, FAILED               nothing to propose, out of budget, an error
//	   any of these ──┴→ STOPPED                           stopped, or a person changed the request
//
// A filter is customers' CEL, and nothing whose cost a customer chooses runs in a transaction: the request's transaction
// therefore holds the job that looks for the agent, not the run itself. The job exists if and only if the request does. A run that
// ends as HANDED_OVER, FAILED or STOPPED has changed nothing, so that the request stands in the inbox as it came; the run's
// reason says why.
//
// A run plans outside of any transaction and ends in one, together with its job: killed anywhere, it plans once more and writes
// once. Everybody locks a request, then its runs, then their actions. A write reads its run in its own transaction, so that
// nothing commits once stopAgentRun has answered.
//
// # What a plan rests on
//
// interrupt.Version digests what people see of a request. A change of it makes what is pending STALE (package interrupt, called by
// every update of a request), a person's ends the run as well, and whoever settles an action compares once more. The digest that
// a person approves is over the operation, its arguments and that version.
//
// # Rights
//
// Role, never above the owner's, and scopes of the published version; the company's policies; and for an agent that sees as the
// requester what that one may read. The history is read in one statement that carries both row filters. Settings take effect when
// they are published: a draft widens nothing that runs.
//
// # The engine history
//
// The newest 500 finished requests, TF-IDF over their words, service and offering, and naive Bayes; the confidence of a value is the
// mean of what Bayes says and the share that it has among the ten nearest, and below 0.5 nothing is proposed. It is
// deterministic, knows nothing but the company's own rows, and is what tests and newcomers get without any model.
//
// # Budgets
//
// A run has its limits, an agent its runsPerDay and a company its agentRunsPerDay (5000), each of the runs that began to plan among those
// made in the last 24 hours, on all nodes; a sandbox is a company of its own. A run beyond them is HANDED_OVER before anything is read.
// Dry runs, replays and evaluations are no runs and count against none: an admin starts each.
//
// # A tool call's mode
//
// The strictest of the level, the tool's own mode and the company's policies. Deny refuses, RequireApproval has an agent wait; both are
// asked before the transaction, of the row as it is and as it would become, and op refuses what slips past (op.Tx asks again for
// every write of an agent that nobody has approved). A decline always waits.
//
// # The engine model
//
//	RUNNING → job agent_think: ask the model, run its tools → turn kept with the next job → … → conclude, with the last turn
//
// One job is one call, made outside of transactions; its answer, what its tools returned and the next job commit together. So a
// kill repeats one call at most and no write, a stop lets nothing more be done, and calls that take a minute hold nothing else up
// (queue agent_models; at most four of a company's at a time on each node). A run is rebuilt from its turns (talk.fold), on whichever
// node; a replay is the same with nobody asked.
//
// The system message is the frame and the version's instructions; what the request says, its comments, requests like it, teams and
// people stand in one message of data, at most 32 KiB of JSON, read as the agent and its requester may and masked (secret.Hide).
// Reads are made at once. A write is held against the tools, the operation's rules, the ids that were read, the agent's rights and the
// policies, and kept; only conclude writes, by the ways that the engine history goes. A model changes no text of a request: of
// updateRequest it has team, assignee, priority and tags.
//
// # Evaluations
//
// Jobs of agent_evaluate try a draft on the company's 100 newest finished requests that its filter takes, each without its own end among
// what may be learned from, or on given cases, and on the attacks of package attack. Engine and tools work as in a run; what comes of
// it is done in a transaction that files the request, performs the writes, reads the row and is rolled back. The verdict is about
// rows and arguments, never prose. AUTONOMOUS takes an evaluation of exactly the draft's settings, by digest, that passed.
//
// What runs were given is kept for seven days; an erasure takes all of the company's, as it tells of other requests.
//
// # CUSTOM agents
//
//	push or GET /v1/agent-runs → claim → RUNNING ─┬→ complete → PROPOSED, WAITING → COMPLETED, or HANDED_OVER
//	                                              ├→ handover, a ninth step, the same write twice → HANDED_OVER
//	                                              └→ nothing heard: for 10 s after a push, 5 min otherwise → HANDED_OVER
//
// Their keys stand on the agent. Door.As, which the gate asks for each call, makes the caller: role and scopes of the published
// version, the key's scopes, and in a run the eyes of whoever filed its request. op then reads as that one, with both row filters in the
// statement, and holds every write (Door.Hold): no function of an operation runs by a call of an agent's key but those of this
// package's inbox.go, which no role grants. Decided where the contract says nothing:
//
//   - An agent that sees as the requester does, and names no run, reads nothing but its runs: there is nobody whose eyes it has.
//   - A run changes its own request alone, by tools that the version lists. Who reads with a weaker role than the agent's reads no more.
//   - The first sign is a call, not the answer to the push: an endpoint that takes runs and works none is found within 10 s as well.
//   - A run that nobody claims within 5 minutes is UNRESPONSIVE, too, where nothing is pushed: no run waits for ever.
//   - The rationale of what is proposed is the result of the last step that decided; a write's body has no room for it.
//   - Keys get the scopes that the agent has when they are made. None are made in a sandbox, as all keys.
//   - In GraphQL a write that was held is an error with the code accepted, which has the action.
//
// # Phases
//
// An agent of type WORKFLOW_PHASE that is responsible for a phase gets a run with its task (task.assigned → job agent_task, in the
// transaction of the event). The run ends with what the task is completed by, which fits the phase's form at once or is refused, and
// waits as an action, or is proposed. A run that ends otherwise gives the task to the accountable person, else to the agent's owner.
// Whoever takes, reassigns or completes the task ends the run; a change of the request does not, as the task is about its phase.
// Agents are never accountable, a MANAGED one is never informed, and a QUEUE_INTAKE one has no part in phases: all are refused when the
// definition is saved. A task of an execution without a request, or of an agent that nobody has published, goes to people.
//
// What the platform runs works phases with a model. It is told the task with its outcomes and its form, reads as in any run, and has
// one tool that writes: completeTask, whose arguments the phase narrows (talk.offers); the version's tools are for requests that come
// in. The engine history works no phases, so that an agent with it cannot be published, and none is AUTONOMOUS: evaluations try no tasks.
//
// One that is consulted gets a run about the phase's task when that opens (the engine's effect → job agent_phase, in the transaction of
// the commit). The run reads and writes nothing; ending it attaches an opinion to the request: the result of its last step that decided,
// and of a model the body of createComment, its one tool. It is an internal comment of the agent's, or a public one where its role is
// member. Nobody is kept from the task meanwhile: after consultMinutes, or when the task ends, so does the run. One that is informed is
// sent {event: agent.informed, timestamp, data: {executionId, requestId, phaseId}} when the phase is left, signed as pushes are, up to
// three times. Pushes have a queue of their own, and each company a few places in it: endpoints that hang hold up nobody's planning.
package agent
