package registry

import (
	"atrium/internal/agent"
	"atrium/internal/agent/actions"
	"atrium/internal/agent/evaluation"
	"atrium/internal/agent/runs"
	"atrium/internal/billing"
	"atrium/internal/desk/catalog"
	"atrium/internal/desk/request"
	"atrium/internal/desk/routing"
	"atrium/internal/desk/savedview"
	"atrium/internal/identity"
	"atrium/internal/identity/apikey"
	"atrium/internal/identity/signin"
	"atrium/internal/identity/websession"
	"atrium/internal/notify/notice"
	"atrium/internal/op/auditlog"
	"atrium/internal/people"
	"atrium/internal/people/company"
	"atrium/internal/policy"
	"atrium/internal/secret"
	"atrium/internal/webhook"
	"atrium/internal/webhook/inbound"
	"atrium/internal/workflow"
	"atrium/internal/workflow/execution"
)

// Entities are the objects of the schema that are listed or have an id of their own. A row names the object's type, the operation
// that reads one by its id, and the operation that lists it.
var Entities = []Entity{
	entity("AccessDecision", node(policy.GetDecision), list("accessDecisions", policy.ListDecisions)),
	entity("AccessPolicy", node(policy.Get), list("accessPolicies", policy.List)),
	entity("AccessPolicyVersion", paged(policy.VersionsOf)),
	entity("Agent", node(agent.Get), list("agents", agent.List)),
	entity("AgentAction", get(actions.Get), list("agentActions", actions.List)),
	entity("AgentEvaluation", paged(evaluation.EvaluationsOf)),
	entity("AgentRun", get(runs.Get), list("agentRuns", runs.List), lookUp(runs.LookUpEdges)),
	entity("AgentVersion", paged(agent.VersionsOf)),
	entity("ApiKey", node(apikey.Get), list("apiKeys", apikey.List)),
	entity("Approval", get(execution.GetApproval), list("approvals", execution.ListApprovals)),
	entity("AuditEntry", get(auditlog.GetEntry), list("auditEntries", auditlog.ListEntries)).inputs("Audit"),
	entity("Calendar", node(workflow.GetCalendar), list("calendars", workflow.ListCalendars)),
	entity("Comment", node(request.GetComment), paged(request.CommentsOf)),
	entity("CreditEntry", list("", billing.ListHistory)),
	entity("Invoice", get(billing.GetInvoice), list("invoices", billing.ListInvoices)),
	entity("Execution", get(execution.Get), list("executions", execution.List), lookUp(execution.LookUp)),
	entity("InboundCall", node(inbound.GetCall), list("", inbound.ListCalls)),
	entity("InboundWebhook", node(inbound.GetWebhook), list("inboundWebhooks", inbound.ListWebhooks)),
	entity("Incident", get(execution.GetIncident), list("incidents", execution.ListIncidents)),
	entity("ModelConnection", node(agent.GetConnection), list("modelConnections", agent.ListConnections)),
	entity("Notification", list("", notice.List)),
	entity("OAuthClient", node(identity.GetClient), list("oauthClients", identity.ListClients)),
	entity("Offering", get(catalog.GetOffering), paged(catalog.OfferingsOf), lookUp(catalog.LookUpOfferings)),
	entity("Organization", get(people.GetOrganization), list("organizations", people.ListOrganizations), lookUp(people.LookUpOrganizations)),
	entity("Request", get(request.Get), list("requests", request.List), lookUp(request.LookUpRequests)),
	entity("RoutingRule", node(routing.Get), list("routingRules", routing.List)),
	entity("SavedView", node(savedview.Get), list("savedViews", savedview.List)),
	entity("Secret", get(secret.GetSecret), list("secrets", secret.ListSecrets)),
	entity("Service", get(catalog.GetService), list("services", catalog.ListServices), lookUp(catalog.LookUpServices)),
	entity("ServiceAccount", node(people.GetServiceAccount), list("serviceAccounts", people.ListServiceAccounts)),
	entity("Session", list("", websession.List)),
	entity("Task", get(execution.GetTask), list("tasks", execution.ListTasks)),
	entity("Team", get(people.GetTeam), list("teams", people.ListTeams), lookUp(people.LookUpTeams)),
	entity("User", get(people.GetUser), list("users", people.ListUsers), lookUp(people.LookUpUsers)),
	entity("WebhookDelivery", node(webhook.GetDelivery), list("", webhook.ListDeliveries)),
	entity("WebhookSubscription", node(webhook.GetSubscription), list("webhookSubscriptions", webhook.ListSubscriptions)),
	entity("WorkflowVersion", paged(workflow.VersionsOf)),
	entity("Workflow", get(workflow.GetWorkflow), list("workflows", workflow.ListWorkflows), lookUp(workflow.LookUpWorkflows)),
}

// Mutations are the fields of Mutation, each with the operation that it runs.
var Mutations = []Mutation{
	mutation("acceptRequest", request.Accept),
	mutation("applyProposal", actions.ApplyProposal),
	mutation("cancelSubscription", billing.CancelSubscription),
	mutation("changePlan", billing.ChangePlan),
	mutation("assignTask", execution.AssignTask),
	mutation("cancelExecution", execution.Cancel),
	mutation("claimTask", execution.ClaimTask),
	mutation("completeTask", execution.CompleteTask),
	mutation("createAccessPolicy", policy.Create),
	mutation("createAgent", agent.Create),
	mutation("createAgentKey", agent.CreateKey),
	mutation("createApiKey", apikey.Create),
	mutation("createCalendar", workflow.CreateCalendar),
	mutation("createComment", request.CreateComment).about("requestId"),
	mutation("createInboundWebhook", inbound.CreateWebhook),
	mutation("createModelConnection", agent.CreateConnection),
	mutation("createOAuthClient", identity.CreateClient),
	mutation("createOffering", catalog.CreateOffering).about("serviceId"),
	mutation("createOrganization", people.CreateOrganization),
	mutation("createRequest", request.Create),
	mutation("createRoutingRule", routing.Create),
	mutation("createSavedView", savedview.Create),
	mutation("createSecret", secret.CreateSecret),
	mutation("createService", catalog.CreateService),
	mutation("createServiceAccount", people.CreateServiceAccount),
	mutation("createTeam", people.CreateTeam),
	mutation("createWebhookSubscription", webhook.CreateSubscription),
	mutation("createWorkflow", workflow.CreateWorkflow),
	mutation("deactivateUser", people.DeactivateUser),
	mutation("decideAgentAction", actions.DecideAction),
	mutation("decideApproval", execution.DecideApproval),
	mutation("declineRequest", request.Decline),
	mutation("moveRequest", request.Move),
	mutation("delegateApproval", execution.DelegateApproval),
	mutation("deleteAccessPolicy", policy.Delete),
	mutation("deleteAgent", agent.Delete),
	mutation("deleteCalendar", workflow.DeleteCalendar),
	mutation("deleteComment", request.DeleteComment),
	mutation("deleteInboundWebhook", inbound.DeleteWebhook),
	mutation("deleteModelConnection", agent.DeleteConnection),
	mutation("deleteOAuthClient", identity.DeleteClient),
	mutation("deleteOffering", catalog.DeleteOffering),
	mutation("deleteOrganization", people.DeleteOrganization),
	mutation("deleteRoutingRule", routing.Delete),
	mutation("deleteSavedView", savedview.Delete),
	mutation("deleteSecret", secret.DeleteSecret),
	mutation("deleteService", catalog.DeleteService),
	mutation("deleteServiceAccount", people.DeleteServiceAccount),
	mutation("deleteTeam", people.DeleteTeam),
	mutation("deleteWebhookSubscription", webhook.DeleteSubscription),
	mutation("deleteWorkflow", workflow.DeleteWorkflow),
	mutation("endAllSessions", websession.EndAll),
	mutation("endSession", websession.End),
	mutation("erasePerson", people.ErasePerson),
	mutation("evaluateAgent", evaluation.Evaluate),
	mutation("exportAudit", auditlog.Export),
	mutation("inviteUser", people.InviteUser),
	mutation("markNotificationsRead", notice.MarkRead),
	mutation("pauseAgent", agent.Pause),
	mutation("publishAgent", agent.Publish),
	mutation("publishWorkflow", workflow.PublishWorkflow),
	mutation("reactivateUser", people.ReactivateUser),
	mutation("rejectProposal", actions.RejectProposal),
	mutation("reopenRequest", request.Reopen),
	mutation("replayAgentRun", evaluation.Replay),
	mutation("replayInboundCall", inbound.ReplayCall),
	mutation("replayWebhookDelivery", webhook.ReplayDelivery),
	mutation("replayWebhookEvents", webhook.ReplayEvents),
	mutation("rerunAgent", runs.Rerun),
	mutation("resendInvitation", people.ResendInvitation),
	mutation("resetUserMfa", signin.ResetMFA),
	mutation("resolveIncident", execution.ResolveIncident),
	mutation("resumeAgent", agent.Resume),
	mutation("revokeApiKey", apikey.Revoke),
	mutation("rotateAgentSecret", agent.RotateSecret),
	mutation("rotateApiKey", apikey.Rotate),
	mutation("rotateInboundWebhookSecret", inbound.RotateSecret),
	mutation("rotateSecret", secret.RotateSecret),
	mutation("rotateWebhookSecret", webhook.RotateSecret),
	mutation("sendTestEvent", webhook.SendTestEvent),
	mutation("setWaiting", request.SetWaiting),
	mutation("snoozeRequest", request.Snooze),
	mutation("stopAgentRun", runs.Stop),
	mutation("stopAllAgents", runs.StopAll),
	mutation("switchSession", websession.Switch),
	mutation("takeNextRequest", request.TakeNext),
	mutation("testAgent", evaluation.Test),
	mutation("updateAccessPolicy", policy.Update),
	mutation("updateAgent", agent.Update),
	mutation("updateCalendar", workflow.UpdateCalendar),
	mutation("updateComment", request.UpdateComment),
	mutation("updateCompany", company.Update),
	mutation("updateModelConnection", agent.UpdateConnection),
	mutation("updateOAuthClient", identity.UpdateClient),
	mutation("updateInboundWebhook", inbound.UpdateWebhook),
	mutation("updateNotificationSettings", notice.UpdateSettings),
	mutation("updateOffering", catalog.UpdateOffering),
	mutation("updateOrganization", people.UpdateOrganization),
	mutation("updateRequest", request.Update),
	mutation("updateRoutingRule", routing.Update),
	mutation("updateSavedView", savedview.Update),
	mutation("updateSecret", secret.UpdateSecret),
	mutation("updateService", catalog.UpdateService),
	mutation("updateServiceAccount", people.UpdateServiceAccount),
	mutation("updateTeam", people.UpdateTeam),
	mutation("updateUser", people.UpdateUser),
	mutation("updateWebhookSubscription", webhook.UpdateSubscription),
	mutation("updateWorkflow", workflow.UpdateWorkflow),
	mutation("validateAccessPolicy", policy.Validate),
}
