package mcp

import (
	"net/http"

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
	method      string   // of the REST endpoint
	path        string   // below /v1
	description string   // one sentence; the operation's summary when empty
	only        []string // the arguments that the tool has; all of the operation's when empty
	destructive bool
	show        func(body []byte) ([]byte, error) // changes the body that REST answers; nil: it is shown as it is
}

// filters returns the given parameters of a list, and page and pageSize. A model needs few, and each costs tokens in every
// conversation.
func filters(names ...string) []string { return append(names, "page", "pageSize") }

// table holds the tools, in the order in which they are listed.
var table = []tool{
	{name: "requests", info: request.List.Info(), method: http.MethodGet, path: "/requests", only: filters("status", "priority", "assigneeId", "teamId", "q", "sort")},
	{name: "request", info: request.Get.Info(), method: http.MethodGet, path: "/requests/{id}"},
	{name: "createRequest", info: request.Create.Info(), method: http.MethodPost, path: "/requests",
		description: "File a request. fields answers the offering's form: see the tool offering."},
	{name: "updateRequest", info: request.Update.Info(), method: http.MethodPatch, path: "/requests/{id}",
		description: "Change the fields that are given. status COMPLETED completes a request.", only: []string{"id", "title", "description", "status", "priority", "tags", "assigneeId", "teamId", "waiting"},
		destructive: true}, // COMPLETED and CANCELLED are final
	{name: "acceptRequest", info: request.Accept.Info(), method: http.MethodPost, path: "/requests/{id}/accept"},
	{name: "declineRequest", info: request.Decline.Info(), method: http.MethodPost, path: "/requests/{id}/decline", destructive: true},
	{name: "moveRequest", info: request.Move.Info(), method: http.MethodPost, path: "/requests/{id}/move"},
	{name: "comments", info: request.ListComments.Info(), method: http.MethodGet, path: "/requests/{id}/comments", only: filters("id")},
	{name: "createComment", info: request.CreateComment.Info(), method: http.MethodPost, path: "/requests/{id}/comments"},
	{name: "services", info: catalog.ListServices.Info(), method: http.MethodGet, path: "/services", only: filters("q", "status")},
	{name: "offerings", info: catalog.ListOfferings.Info(), method: http.MethodGet, path: "/services/{id}/offerings", only: filters("id", "q"),
		description: "List the offerings of the service with this id.", show: withoutForms},
	{name: "offering", info: catalog.GetOffering.Info(), method: http.MethodGet, path: "/offerings/{id}",
		description: "Get an offering, with its form as the JSON Schema of a request's fields.", show: withSchema},
	{name: "tasks", info: execution.ListTasks.Info(), method: http.MethodGet, path: "/tasks", only: filters("status", "requestId", "assigneeId", "teamId")},
	{name: "completeTask", info: execution.CompleteTask.Info(), method: http.MethodPost, path: "/tasks/{id}/complete", destructive: true},
	{name: "users", info: people.ListUsers.Info(), method: http.MethodGet, path: "/users", only: filters("email", "role", "status")},
	{name: "teams", info: people.ListTeams.Info(), method: http.MethodGet, path: "/teams", only: filters("q")},
	{name: "agentRuns", info: runs.List.Info(), method: http.MethodGet, path: "/agent-runs", only: filters("status", "requestId")},
	{name: "claimAgentRun", info: custom.Claim.Info(), method: http.MethodPost, path: "/agent-runs/{id}/claim"},
	{name: "addAgentRunStep", info: custom.AddStep.Info(), method: http.MethodPost, path: "/agent-runs/{id}/steps"},
	{name: "completeAgentRun", info: custom.Complete.Info(), method: http.MethodPost, path: "/agent-runs/{id}/complete"},
	{name: "handOverAgentRun", info: custom.HandOver.Info(), method: http.MethodPost, path: "/agent-runs/{id}/handover"},
}
