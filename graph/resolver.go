package graph

import (
	"atrium/graph/generated"
	"atrium/graph/generated/resolvers"
)

// resolver resolves the fields of the schema that are not plain columns. Each of its resolvers' methods runs one operation; package
// resolve holds what they have in common. What the generator has a rule for, the embedded types resolve.
type resolver struct {
	resolvers.Root
	baseURL string // the prefix of addresses in answers
}

func (r *resolver) Query() generated.QueryResolver { return &queryResolver{resolvers.Query(r.Root)} }
func (r *resolver) Mutation() generated.MutationResolver {
	return &mutationResolver{resolvers.Mutation(r.Root)}
}
func (r *resolver) Subscription() generated.SubscriptionResolver {
	return &subscriptionResolver{r.Root}
}

func (r *resolver) AccessDecider() generated.AccessDeciderResolver {
	return &accessDeciderResolver{resolvers.AccessDecider(r.Root)}
}
func (r *resolver) AccessDecision() generated.AccessDecisionResolver {
	return &accessDecisionResolver{resolvers.AccessDecision(r.Root)}
}
func (r *resolver) AccessPolicyDraftInput() generated.AccessPolicyDraftInputResolver {
	return &accessPolicyDraftInputResolver{resolvers.AccessPolicyDraftInput(r.Root)}
}
func (r *resolver) AccessPolicy() generated.AccessPolicyResolver {
	return &accessPolicyResolver{resolvers.AccessPolicy(r.Root)}
}
func (r *resolver) AccessUnmet() generated.AccessUnmetResolver {
	return &accessUnmetResolver{resolvers.AccessUnmet(r.Root)}
}
func (r *resolver) AgentAction() generated.AgentActionResolver {
	return &agentActionResolver{resolvers.AgentAction(r.Root)}
}
func (r *resolver) AgentChange() generated.AgentChangeResolver {
	return &agentChangeResolver{resolvers.AgentChange(r.Root)}
}
func (r *resolver) Agent() generated.AgentResolver { return &agentResolver{resolvers.Agent(r.Root)} }
func (r *resolver) AgentRun() generated.AgentRunResolver {
	return &agentRunResolver{resolvers.AgentRun(r.Root)}
}
func (r *resolver) ApiKey() generated.ApiKeyResolver {
	return &apiKeyResolver{resolvers.ApiKey(r.Root)}
}
func (r *resolver) Approval() generated.ApprovalResolver {
	return &approvalResolver{resolvers.Approval(r.Root)}
}
func (r *resolver) AuditEntry() generated.AuditEntryResolver {
	return &auditEntryResolver{resolvers.AuditEntry(r.Root)}
}
func (r *resolver) AuditProof() generated.AuditProofResolver {
	return &auditProofResolver{resolvers.AuditProof(r.Root)}
}
func (r *resolver) Calendar() generated.CalendarResolver {
	return &calendarResolver{resolvers.Calendar(r.Root)}
}
func (r *resolver) Comment() generated.CommentResolver {
	return &commentResolver{resolvers.Comment(r.Root)}
}
func (r *resolver) Company() generated.CompanyResolver {
	return &companyResolver{resolvers.Company(r.Root)}
}
func (r *resolver) CreditNote() generated.CreditNoteResolver {
	return &creditNoteResolver{resolvers.CreditNote(r.Root), r.baseURL}
}
func (r *resolver) Execution() generated.ExecutionResolver {
	return &executionResolver{resolvers.Execution(r.Root)}
}
func (r *resolver) InboundWebhook() generated.InboundWebhookResolver {
	return &inboundWebhookResolver{resolvers.InboundWebhook(r.Root), r.baseURL}
}
func (r *resolver) Invoice() generated.InvoiceResolver {
	return &invoiceResolver{resolvers.Invoice(r.Root), r.baseURL}
}
func (r *resolver) Mailbox() generated.MailboxResolver {
	return &mailboxResolver{resolvers.Mailbox(r.Root), r.baseURL}
}
func (r *resolver) Offering() generated.OfferingResolver {
	return &offeringResolver{resolvers.Offering(r.Root)}
}
func (r *resolver) PhaseVisit() generated.PhaseVisitResolver {
	return &phaseVisitResolver{resolvers.PhaseVisit(r.Root)}
}
func (r *resolver) RequestHistoryEntry() generated.RequestHistoryEntryResolver {
	return &requestHistoryEntryResolver{resolvers.RequestHistoryEntry(r.Root)}
}
func (r *resolver) RequestImport() generated.RequestImportResolver {
	return &requestImportResolver{resolvers.RequestImport(r.Root)}
}
func (r *resolver) Request() generated.RequestResolver {
	return &requestResolver{resolvers.Request(r.Root)}
}
func (r *resolver) Schedule() generated.ScheduleResolver {
	return &scheduleResolver{resolvers.Schedule(r.Root)}
}
func (r *resolver) RoutingRule() generated.RoutingRuleResolver {
	return &routingRuleResolver{resolvers.RoutingRule(r.Root)}
}
func (r *resolver) Service() generated.ServiceResolver {
	return &serviceResolver{resolvers.Service(r.Root)}
}
func (r *resolver) Session() generated.SessionResolver {
	return &sessionResolver{resolvers.Session(r.Root)}
}
func (r *resolver) Task() generated.TaskResolver { return &taskResolver{resolvers.Task(r.Root)} }
func (r *resolver) Team() generated.TeamResolver { return &teamResolver{resolvers.Team(r.Root)} }
func (r *resolver) User() generated.UserResolver { return &userResolver{resolvers.User(r.Root)} }
func (r *resolver) Viewer() generated.ViewerResolver {
	return &viewerResolver{resolvers.Viewer(r.Root)}
}
func (r *resolver) WebhookDelivery() generated.WebhookDeliveryResolver {
	return &webhookDeliveryResolver{resolvers.WebhookDelivery(r.Root)}
}
func (r *resolver) Workflow() generated.WorkflowResolver {
	return &workflowResolver{resolvers.Workflow(r.Root)}
}
func (r *resolver) WorkflowVersion() generated.WorkflowVersionResolver {
	return &workflowVersionResolver{resolvers.WorkflowVersion(r.Root)}
}

type (
	queryResolver        struct{ resolvers.Query }
	mutationResolver     struct{ resolvers.Mutation }
	subscriptionResolver struct{ resolvers.Root }

	accessDeciderResolver          struct{ resolvers.AccessDecider }
	accessDecisionResolver         struct{ resolvers.AccessDecision }
	accessPolicyDraftInputResolver struct {
		resolvers.AccessPolicyDraftInput
	}
	accessPolicyResolver struct{ resolvers.AccessPolicy }
	accessUnmetResolver  struct{ resolvers.AccessUnmet }
	agentActionResolver  struct{ resolvers.AgentAction }
	agentChangeResolver  struct{ resolvers.AgentChange }
	agentResolver        struct{ resolvers.Agent }
	agentRunResolver     struct{ resolvers.AgentRun }
	apiKeyResolver       struct{ resolvers.ApiKey }
	approvalResolver     struct{ resolvers.Approval }
	auditEntryResolver   struct{ resolvers.AuditEntry }
	auditProofResolver   struct{ resolvers.AuditProof }
	calendarResolver     struct{ resolvers.Calendar }
	commentResolver      struct{ resolvers.Comment }
	companyResolver      struct{ resolvers.Company }
	creditNoteResolver   struct {
		resolvers.CreditNote
		baseURL string
	}
	executionResolver      struct{ resolvers.Execution }
	inboundWebhookResolver struct {
		resolvers.InboundWebhook
		baseURL string
	}
	invoiceResolver struct {
		resolvers.Invoice
		baseURL string
	}
	mailboxResolver struct {
		resolvers.Mailbox
		baseURL string
	}
	offeringResolver            struct{ resolvers.Offering }
	phaseVisitResolver          struct{ resolvers.PhaseVisit }
	requestHistoryEntryResolver struct{ resolvers.RequestHistoryEntry }
	requestImportResolver       struct{ resolvers.RequestImport }
	requestResolver             struct{ resolvers.Request }
	routingRuleResolver         struct{ resolvers.RoutingRule }
	scheduleResolver            struct{ resolvers.Schedule }
	serviceResolver             struct{ resolvers.Service }
	sessionResolver             struct{ resolvers.Session }
	taskResolver                struct{ resolvers.Task }
	teamResolver                struct{ resolvers.Team }
	userResolver                struct{ resolvers.User }
	viewerResolver              struct{ resolvers.Viewer }
	webhookDeliveryResolver     struct{ resolvers.WebhookDelivery }
	workflowResolver            struct{ resolvers.Workflow }
	workflowVersionResolver     struct{ resolvers.WorkflowVersion }
)
