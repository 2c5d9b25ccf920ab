// Package phases gives the tasks of workflows to agents: it begins and stops the runs about a phase's task, gives tasks back to people,
// asks agents for opinions, and informs them. What a run about a task comes to is decided and stored by the other rooms.
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
// A MANAGED agent works on phases with a model, and reads as in any run. The engine history does not work on phases, so a phase agent
// with it cannot be published. No phase agent is AUTONOMOUS, because evaluations try no tasks. So a chain of agents is never longer
// than two without a person between them: an AUTONOMOUS agent's change of a request may start a workflow, and what that gives to an
// agent waits.
//
// A consulted agent gets a run about the phase's task when the task opens (the workflow engine's effect → job agent_phase, in the
// transaction of the commit). The run may only read. Its end adds an opinion to the request: the result of its last step of kind
// decide, or the body of createComment, the only writing tool of a model. The opinion is an internal comment of the agent, or a
// public one if the agent's role is member. Where a policy makes agents' comments wait, it waits as an action until the task ends.
// People may work on the task meanwhile; the run ends after consultMinutes, or when the task ends. An informed agent gets {event:
// agent.informed, timestamp, data: {executionId, requestId, phaseId}} when the phase is left, as a push.
package phases
