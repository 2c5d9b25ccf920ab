// Package participant decides who takes part in a request because of its workflow: the approvers, the people who work on its tasks
// (themselves or through a team), and the people who are consulted or informed. Whatever their role allows, they may read the request
// and its public comments, and comment on it; who is consulted or informed about a phase may read its tasks and
// approvals. They get no other right. They keep this access after the task or approval has ended.
//
// The operations on requests, comments, tasks and approvals call it. It computes the answer from the rows of tasks, approvals
// and executions, stores nothing, and runs a query only if the caller's role alone does not give access to the request.
package participant
