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
// AUTONOMOUS cannot be published: it takes an evaluation that passed, and nothing evaluates. Neither can WORKFLOW_PHASE and CUSTOM
// agents, which nothing would work; their rows can be kept and named by workflows.
package agent
