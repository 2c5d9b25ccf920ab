package rest

import (
	"net/http"

	"atrium/internal/agent/custom"
	"atrium/internal/agent/runs"
	"atrium/internal/billing"
	"atrium/internal/desk/attachment"
	"atrium/internal/desk/catalog"
	"atrium/internal/desk/finder"
	"atrium/internal/desk/pack"
	"atrium/internal/desk/reportmail"
	"atrium/internal/desk/request"
	"atrium/internal/desk/requestimport"
	"atrium/internal/op/auditlog"
	"atrium/internal/people"
	"atrium/internal/secret"
	"atrium/internal/workflow"
	"atrium/internal/workflow/execution"
	"atrium/internal/workflow/schedule"
	"atrium/internal/workflow/trial"
)

// routes is the table of /v1: method, path, status of success, operation, answer.
var routes = []route{
	list("/services", catalog.ListServices, serviceOut),
	one(http.MethodPost, "/services", http.StatusCreated, catalog.CreateService, serviceOut),
	one(http.MethodGet, "/services/{id}", http.StatusOK, catalog.GetService, serviceOut),
	one(http.MethodPatch, "/services/{id}", http.StatusOK, catalog.UpdateService, serviceOut),
	remove("/services/{id}", catalog.DeleteService, serviceOut),

	one(http.MethodGet, "/services/{id}/template", http.StatusOK, pack.Template, serviceTemplateOut),
	list("/packs", pack.List, packOut),
	one(http.MethodPost, "/packs/plan", http.StatusOK, pack.PlanOf, packPlanOut),
	one(http.MethodPost, "/packs/install", http.StatusOK, pack.Install, packPlanOut),

	list("/services/{id}/offerings", catalog.ListOfferings, offeringOut),
	one(http.MethodPost, "/services/{id}/offerings", http.StatusCreated, catalog.CreateOffering, offeringOut),
	one(http.MethodGet, "/offerings/{id}", http.StatusOK, catalog.GetOffering, offeringOut),
	one(http.MethodPatch, "/offerings/{id}", http.StatusOK, catalog.UpdateOffering, offeringOut),
	remove("/offerings/{id}", catalog.DeleteOffering, offeringOut),

	one(http.MethodGet, "/search", http.StatusOK, finder.Search, searchOut),

	list("/requests", request.List, requestOut),
	one(http.MethodPost, "/requests", http.StatusCreated, request.Create, requestOut),
	bulkRequests("/requests/bulk", requestOut),
	one(http.MethodPost, "/requests/import", http.StatusAccepted, requestimport.Create, requestImportOut),
	list("/request-imports", requestimport.List, requestImportOut),
	one(http.MethodGet, "/request-imports/{id}", http.StatusOK, requestimport.Get, requestImportOut),
	one(http.MethodPost, "/request-imports/{id}/start", http.StatusAccepted, requestimport.Start, requestImportOut),
	one(http.MethodPost, "/request-imports/{id}/stop", http.StatusOK, requestimport.Stop, requestImportOut),
	one(http.MethodGet, "/reports/requests", http.StatusOK, request.Report, requestReportOut),
	list("/report-subscriptions", reportmail.List, reportSubscriptionOut),
	one(http.MethodPost, "/report-subscriptions", http.StatusCreated, reportmail.Create, reportSubscriptionOut),
	one(http.MethodGet, "/report-subscriptions/{id}", http.StatusOK, reportmail.Get, reportSubscriptionOut),
	one(http.MethodPatch, "/report-subscriptions/{id}", http.StatusOK, reportmail.Update, reportSubscriptionOut),
	remove("/report-subscriptions/{id}", reportmail.Delete, reportSubscriptionOut),
	one(http.MethodGet, "/requests/{id}", http.StatusOK, request.Get, requestOut),
	one(http.MethodPatch, "/requests/{id}", http.StatusOK, request.Update, requestOut),
	one(http.MethodPost, "/requests/{id}/move", http.StatusOK, request.Move, requestOut),
	list("/requests/{id}/people", request.People, namedOut),
	list("/requests/{id}/watchers", request.ListWatchers, namedOut),
	one(http.MethodPut, "/requests/{id}/watch", http.StatusOK, request.Watch, requestOut),
	one(http.MethodDelete, "/requests/{id}/watch", http.StatusOK, request.Unwatch, requestOut),
	one(http.MethodPost, "/requests/{id}/merge", http.StatusOK, request.Merge, requestOut),
	list("/requests/{id}/links", request.ListLinks, requestLinkOut),
	one(http.MethodPost, "/requests/{id}/links", http.StatusCreated, request.CreateLink, requestLinkOut),
	remove("/request-links/{id}", request.DeleteLink, requestLinkOut),
	list("/requests/{id}/attachments", attachment.List, attachmentOut),
	one(http.MethodPost, "/attachments", http.StatusCreated, attachment.Create, announcedOut),
	one(http.MethodGet, "/attachments/{id}", http.StatusOK, attachment.Get, attachmentOut),
	remove("/attachments/{id}", attachment.Delete, attachmentOut),
	list("/requests/{id}/comments", request.ListComments, commentOut),
	one(http.MethodPost, "/requests/{id}/comments", http.StatusCreated, request.CreateComment, commentOut),
	one(http.MethodPatch, "/comments/{id}", http.StatusOK, request.UpdateComment, commentOut),
	remove("/comments/{id}", request.DeleteComment, commentOut),

	list("/workflows", workflow.ListWorkflows, workflowOut),
	one(http.MethodPost, "/workflows", http.StatusCreated, workflow.CreateWorkflow, workflowOut),
	one(http.MethodGet, "/workflows/{id}", http.StatusOK, workflow.GetWorkflow, workflowOut),
	one(http.MethodPatch, "/workflows/{id}", http.StatusOK, workflow.UpdateWorkflow, workflowOut),
	remove("/workflows/{id}", workflow.DeleteWorkflow, workflowOut),
	one(http.MethodPost, "/workflows/{id}/publish", http.StatusOK, workflow.PublishWorkflow, workflowOut),
	list("/workflows/{id}/versions", workflow.ListVersions, workflowVersionOut),
	one(http.MethodGet, "/workflows/{id}/versions/{version}", http.StatusOK, workflow.GetVersion, workflowVersionOut),
	one(http.MethodGet, "/workflows/{id}/versions/{version}/diff", http.StatusOK, workflow.DiffVersions, versionDiffOut),

	one(http.MethodPost, "/workflows/try", http.StatusOK, trial.Try, workflowTrialOut),
	list("/workflows/{id}/executions", execution.OfWorkflow, executionSummaryOut).noting(onlySummaries),

	list("/schedules", schedule.List, scheduleOut),
	one(http.MethodPost, "/schedules", http.StatusCreated, schedule.Create, scheduleOut),
	one(http.MethodPost, "/schedules/times", http.StatusOK, schedule.Times, scheduleTimesOut),
	one(http.MethodGet, "/schedules/{id}", http.StatusOK, schedule.Get, scheduleOut),
	one(http.MethodPatch, "/schedules/{id}", http.StatusOK, schedule.Update, scheduleOut),
	remove("/schedules/{id}", schedule.Delete, scheduleOut),
	list("/schedules/{id}/runs", schedule.ListRuns, scheduleRunOut),
	one(http.MethodPost, "/schedules/{id}/run", http.StatusOK, schedule.Run, scheduleRunOut),

	list("/executions", execution.List, executionSummaryOut).noting(onlySummaries),
	one(http.MethodGet, "/executions/{id}", http.StatusOK, execution.Get, executionOut),
	one(http.MethodPost, "/executions/{id}/cancel", http.StatusOK, execution.Cancel, executionOut),
	list("/incidents", execution.ListIncidents, incidentOut),
	one(http.MethodGet, "/incidents/{id}", http.StatusOK, execution.GetIncident, incidentOut),
	one(http.MethodGet, "/incidents/{id}/preview", http.StatusOK, execution.PreviewMove, movePreviewOut),
	one(http.MethodPost, "/incidents/{id}/resolve", http.StatusOK, execution.ResolveIncident, incidentOut),

	list("/tasks", execution.ListTasks, taskOut),
	one(http.MethodGet, "/tasks/{id}", http.StatusOK, execution.GetTask, taskOut),
	one(http.MethodPost, "/tasks/{id}/complete", http.StatusOK, execution.CompleteTask, taskOut),
	one(http.MethodPost, "/tasks/{id}/claim", http.StatusOK, execution.ClaimTask, taskOut),
	one(http.MethodPost, "/tasks/{id}/assign", http.StatusOK, execution.AssignTask, taskOut),
	list("/approvals", execution.ListApprovals, approvalOut),
	one(http.MethodGet, "/approvals/{id}", http.StatusOK, execution.GetApproval, approvalOut),
	one(http.MethodPost, "/approvals/{id}/decide", http.StatusOK, execution.DecideApproval, approvalOut),
	one(http.MethodPost, "/approvals/{id}/delegate", http.StatusOK, execution.DelegateApproval, approvalOut),

	list("/users", people.ListUsers, userOut),
	one(http.MethodGet, "/users/{id}", http.StatusOK, people.GetUser, userOut),
	one(http.MethodPatch, "/users/{id}", http.StatusOK, people.UpdateUser, userOut),

	list("/teams", people.ListTeams, teamOut),
	one(http.MethodPost, "/teams", http.StatusCreated, people.CreateTeam, teamOut),
	one(http.MethodGet, "/teams/{id}", http.StatusOK, people.GetTeam, teamOut),
	one(http.MethodPatch, "/teams/{id}", http.StatusOK, people.UpdateTeam, teamOut),
	remove("/teams/{id}", people.DeleteTeam, teamOut),

	list("/organizations", people.ListOrganizations, organizationOut),
	one(http.MethodPost, "/organizations", http.StatusCreated, people.CreateOrganization, organizationOut),
	one(http.MethodGet, "/organizations/{id}", http.StatusOK, people.GetOrganization, organizationOut),
	one(http.MethodPatch, "/organizations/{id}", http.StatusOK, people.UpdateOrganization, organizationOut),
	remove("/organizations/{id}", people.DeleteOrganization, organizationOut),

	list("/secrets", secret.ListSecrets, secretOut),
	one(http.MethodPost, "/secrets", http.StatusCreated, secret.CreateSecret, secretOut),
	one(http.MethodGet, "/secrets/{id}", http.StatusOK, secret.GetSecret, secretOut),
	one(http.MethodPatch, "/secrets/{id}", http.StatusOK, secret.UpdateSecret, secretOut),
	remove("/secrets/{id}", secret.DeleteSecret, secretOut),

	list("/agent-runs", runs.List, agentRunOut),
	one(http.MethodGet, "/agent-runs/{id}", http.StatusOK, runs.Get, agentRunOut),
	one(http.MethodPost, "/agent-runs/{id}/claim", http.StatusOK, custom.Claim, agentRunOut),
	one(http.MethodPost, "/agent-runs/{id}/steps", http.StatusOK, custom.AddStep, agentRunOut),
	one(http.MethodPost, "/agent-runs/{id}/complete", http.StatusOK, custom.Complete, agentRunOut),
	one(http.MethodPost, "/agent-runs/{id}/handover", http.StatusOK, custom.HandOver, agentRunOut),

	bare(http.MethodGet, "/billing/credits", billing.GetCredits, creditsOut),
	list("/audit", auditlog.ListEntries, auditEntryOut),
}

const onlySummaries = "Lists leave out the variables and phases of executions, which may be large: GET /v1/executions/{id} has them."

// transitions are operations that change a request's status. /v1 has no endpoints for them, because its PATCH changes the status.
// Inside has them, because MCP has tools for them.
var transitions = []route{
	one(http.MethodPost, "/requests/{id}/accept", http.StatusOK, request.Accept, requestOut),
	one(http.MethodPost, "/requests/{id}/decline", http.StatusOK, request.Decline, requestOut),
	one(http.MethodPost, "/requests/{id}/reopen", http.StatusOK, request.Reopen, requestOut),
}
