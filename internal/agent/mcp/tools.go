package mcp

import (
	"atrium/internal/agent/custom"
	"atrium/internal/agent/runs"
	"atrium/internal/desk/catalog"
	"atrium/internal/desk/request"
	"atrium/internal/op"
	"atrium/internal/people"
	"atrium/internal/workflow/execution"
)

// tool is an operation as the API shows it.
type tool struct {
	name        string // the name that GraphQL has for the operation
	info        *op.Info
	description string   // one sentence; the operation's summary when empty
	only        []string // the arguments that the tool has; all of the operation's when empty
	destructive bool
	show        func(body []byte) ([]byte, error) // changes the body of /v1; nil: it is shown as it is
}

// filters returns the given parameters of a list, and page and pageSize. A model needs few, and each costs tokens in every
// conversation.
func filters(names ...string) []string { return append(names, "page", "pageSize") }

// table holds the tools, in the order in which they are listed.
var table = []tool{
	{name: "requests", info: request.List.Info(), only: filters("status", "priority", "assigneeId", "teamId", "q", "sort")},
	{name: "request", info: request.Get.Info()},
	{name: "createRequest", info: request.Create.Info(),
		description: "File a request. fields answers the offering's form: see the tool offering."},
	{name: "updateRequest", info: request.Update.Info(),
		description: "Change the fields that are given. status COMPLETED completes a request.", only: []string{"id", "title", "description", "status", "priority", "tags", "assigneeId", "teamId", "waiting"},
		destructive: true}, // CANCELLED is final
	{name: "acceptRequest", info: request.Accept.Info()},
	{name: "declineRequest", info: request.Decline.Info(), destructive: true},
	{name: "reopenRequest", info: request.Reopen.Info()},
	{name: "moveRequest", info: request.Move.Info()},
	{name: "comments", info: request.ListComments.Info(), only: filters("id")},
	{name: "requestPeople", info: request.People.Info(), only: filters("id")},
	{name: "createComment", info: request.CreateComment.Info()},
	{name: "services", info: catalog.ListServices.Info(), only: filters("q", "status")},
	{name: "offerings", info: catalog.ListOfferings.Info(), only: filters("id", "q"),
		description: "List the offerings of the service with this id.", show: withoutForms},
	{name: "offering", info: catalog.GetOffering.Info(),
		description: "Get an offering, with its form as the JSON Schema of a request's fields.", show: withSchema},
	{name: "tasks", info: execution.ListTasks.Info(), only: filters("status", "requestId", "assigneeId", "teamId")},
	{name: "completeTask", info: execution.CompleteTask.Info(), destructive: true},
	{name: "users", info: people.ListUsers.Info(), only: filters("email", "role", "status")},
	{name: "teams", info: people.ListTeams.Info(), only: filters("q")},
	{name: "agentRuns", info: runs.List.Info(), only: filters("status", "requestId")},
	{name: "claimAgentRun", info: custom.Claim.Info()},
	{name: "addAgentRunStep", info: custom.AddStep.Info()},
	{name: "completeAgentRun", info: custom.Complete.Info()},
	{name: "handOverAgentRun", info: custom.HandOver.Info()},
}
