// Package agent implements the automated participants of a company: agents with their published versions, the runs in which they
// work on requests, and the actions that they propose or wait to do. GraphQL, REST and MCP call its operations, and River runs
// its jobs. An agent is a principal (TypeAgent). It never changes anything except through the operations that people use.
//
// The package itself holds the operations on agents, their keys and their model connections, and puts the rooms together (Door):
// it is what package op asks about agents, and registers the workers of their jobs.
//
// # Rooms
//
// Each room imports only rooms above it in this list.
//
//	attack      the prompt injection suite
//	model       speaks to language models
//	worker      what the workers of jobs share
//	tools       the operations that agents may use, and the writes that they decide on
//	settings    what an agent's draft and versions say, and the rights that follow
//	history     the engine that learns from finished requests
//	runs        how runs begin, end, and what they may cost
//	actions     proposals and waiting actions, and what people decide about them
//	plans       what an agent decides, by the engine history or a model
//	custom      the runs that companies work with programs of their own
//	phases      the tasks of workflows that agents work, and opinions about them
//	evaluation  trials of agents, which keep nothing
//	runner      the workers that take runs to their end
//
// Beside them, mcp is the door for agents and their clients, the Model Context Protocol.
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
package agent
