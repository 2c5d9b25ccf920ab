package authz

import (
	"context"
	"maps"
	"slices"
	"strings"

	"atrium/ent"
	"atrium/ent/accessdecision"
	"atrium/ent/accesspolicy"
	"atrium/ent/agent"
	"atrium/ent/apikey"
	"atrium/ent/approval"
	"atrium/ent/auditentry"
	"atrium/ent/calendar"
	"atrium/ent/comment"
	"atrium/ent/execution"
	"atrium/ent/inboundcall"
	"atrium/ent/inboundwebhook"
	"atrium/ent/incident"
	"atrium/ent/invoice"
	"atrium/ent/oauthclient"
	"atrium/ent/offering"
	"atrium/ent/organization"
	"atrium/ent/request"
	"atrium/ent/secret"
	"atrium/ent/service"
	"atrium/ent/serviceaccount"
	"atrium/ent/task"
	"atrium/ent/team"
	"atrium/ent/teammember"
	"atrium/ent/user"
	"atrium/ent/webhookdelivery"
	"atrium/ent/webhooksubscription"
	"atrium/ent/workflow"
	"atrium/internal/id"
)

// Any stands for every resource, or every action, in a policy.
const Any = "*"

// The resources whose rows tell of other rows: who may not see those may not see their rows either.
const (
	AuditEntry     = "AuditEntry"
	AccessDecision = "AccessDecision" // but for the caller's own
)

// Tells tells whether a resource's rows are about other rows.
func Tells(name string) bool { return name == AuditEntry || name == AccessDecision }

// resources are what policies name, by name: entities whose rows they reach, and plain ones that have no rows of
// their own. Whoever adds an operation on another resource adds it here; a test asks for it.
var resources = func() map[string]*resource {
	all := map[string]*resource{}
	for _, r := range []*resource{
		entity("Service", service.Table, func(c *ent.Client) loader[ent.Service] { return c.Service.Get }),
		entity("Offering", offering.Table, func(c *ent.Client) loader[ent.Offering] { return c.Offering.Get }),
		entity("Request", request.Table, func(c *ent.Client) loader[ent.Request] { return c.Request.Get }),
		entity("Comment", comment.Table, func(c *ent.Client) loader[ent.Comment] { return c.Comment.Get }),
		entity("Workflow", workflow.Table, func(c *ent.Client) loader[ent.Workflow] { return c.Workflow.Get }),
		entity("Execution", execution.Table, func(c *ent.Client) loader[ent.Execution] { return c.Execution.Get }),
		entity("Task", task.Table, func(c *ent.Client) loader[ent.Task] { return c.Task.Get }),
		entity("Approval", approval.Table, func(c *ent.Client) loader[ent.Approval] { return c.Approval.Get }),
		entity("Incident", incident.Table, func(c *ent.Client) loader[ent.Incident] { return c.Incident.Get }),
		entity("User", user.Table, func(c *ent.Client) loader[ent.User] { return c.User.Get }).
			list("teamIds", teammember.FieldUserID, teammember.FieldTeamID),
		entity("Team", team.Table, func(c *ent.Client) loader[ent.Team] { return c.Team.Get }).
			list("memberIds", teammember.FieldTeamID, teammember.FieldUserID),
		entity("Organization", organization.Table, func(c *ent.Client) loader[ent.Organization] { return c.Organization.Get }),
		entity("Secret", secret.Table, func(c *ent.Client) loader[ent.Secret] { return c.Secret.Get }),
		entity(AuditEntry, auditentry.Table, func(c *ent.Client) loader[ent.AuditEntry] { return c.AuditEntry.Get }),
		entity("APIKey", apikey.Table, func(c *ent.Client) loader[ent.APIKey] { return c.APIKey.Get }),
		entity("ServiceAccount", serviceaccount.Table, func(c *ent.Client) loader[ent.ServiceAccount] { return c.ServiceAccount.Get }),
		entity("OAuthClient", oauthclient.Table, func(c *ent.Client) loader[ent.OAuthClient] { return c.OAuthClient.Get }),
		entity("WebhookSubscription", webhooksubscription.Table, func(c *ent.Client) loader[ent.WebhookSubscription] { return c.WebhookSubscription.Get }),
		entity("WebhookDelivery", webhookdelivery.Table, func(c *ent.Client) loader[ent.WebhookDelivery] { return c.WebhookDelivery.Get }),
		entity("InboundWebhook", inboundwebhook.Table, func(c *ent.Client) loader[ent.InboundWebhook] { return c.InboundWebhook.Get }),
		entity("InboundCall", inboundcall.Table, func(c *ent.Client) loader[ent.InboundCall] { return c.InboundCall.Get }),
		entity("Agent", agent.Table, func(c *ent.Client) loader[ent.Agent] { return c.Agent.Get }),
		entity("Calendar", calendar.Table, func(c *ent.Client) loader[ent.Calendar] { return c.Calendar.Get }),
		entity("Invoice", invoice.Table, func(c *ent.Client) loader[ent.Invoice] { return c.Invoice.Get }),
		entity("AccessPolicy", accesspolicy.Table, func(c *ent.Client) loader[ent.AccessPolicy] { return c.AccessPolicy.Get }),
		entity(AccessDecision, accessdecision.Table, func(c *ent.Client) loader[ent.AccessDecision] { return c.AccessDecision.Get }),
		{name: "Credit"}, // read as a whole: a balance over some entries would be none
	} {
		all[r.name] = r
	}
	return all
}()

// unbound are what operations are about and policies are not, with the reason.
var unbound = map[string]string{
	"Company":             "everybody in a company knows it; its settings are the roles' matter",
	"NotificationSetting": "each person's own matter",
	"Session":             "whoever signed in must be able to sign out",
}

// Bound tells whether policies are about a resource.
func Bound(name string) bool { return unbound[name] == "" }

// parent is a resource that rows belong to, and the column that names the row of it.
type parent struct{ column, resource string }

// parents are what the rows of an entity belong to: who may not see one of those may not see the row either.
var parents = map[string][]parent{
	"Comment":     {{comment.FieldRequestID, "Request"}},
	"Offering":    {{offering.FieldServiceID, "Service"}},
	"Execution":   {{execution.FieldRequestID, "Request"}},
	"Task":        {{task.FieldRequestID, "Request"}},
	"Approval":    {{approval.FieldRequestID, "Request"}},
	"Incident":    {{incident.FieldExecutionID, "Execution"}},
	"InboundCall": {{inboundcall.FieldWebhookID, "InboundWebhook"}},
	"TeamMember":  {{teammember.FieldTeamID, "Team"}, {teammember.FieldUserID, "User"}},
}

// resource is one kind of thing that policies are about.
type resource struct {
	name  string
	table string                // empty for a plain resource: it has no rows that could be told apart
	attrs map[string]*attribute // by the API's name: "ownerTeamId", "sla.responseMinutes"; maps by theirs: "tags"
	byDoc []*attribute          // in the entity's order
	load  func(ctx context.Context, db *ent.Client, id string) (any, error)
}

// resourceOf returns the resource of that name; one without attributes where policies know none.
func resourceOf(name string) *resource {
	if r := resources[name]; r != nil {
		return r
	}
	return &resource{name: name}
}

// loader reads one row by its id.
type loader[E any] func(ctx context.Context, id string) (*E, error)

// entity describes a resource whose rows are an Ent entity's; its attributes are the entity's columns.
func entity[E any](name, table string, get func(*ent.Client) loader[E]) *resource {
	r := &resource{name: name, table: table, attrs: map[string]*attribute{}}
	r.load = func(ctx context.Context, db *ent.Client, id string) (any, error) { return get(db)(ctx, id) }
	for _, a := range columns[E](name) {
		r.attrs[a.name] = a
		r.byDoc = append(r.byDoc, a)
	}
	return r
}

// list adds an attribute that is a list of ids, kept as team memberships: own is the column that names the row.
func (r *resource) list(name, own, other string) *resource {
	a := &attribute{name: name, path: []string{name}, kind: list, column: other, own: own}
	r.attrs[name] = a
	return r
}

// Resources returns the names that a policy's resource can have, besides Any.
func Resources() []string { return slices.Sorted(maps.Keys(resources)) }

// Actions are what a policy's action can be, besides Any.
var Actions = []string{"read", "create", "update", "delete"}

// HasRows tells whether policies reach a resource's rows one by one.
func HasRows(name string) bool { r := resources[name]; return r != nil && r.table != "" }

// EntityOfTable returns the entity whose rows a table holds, as Narrow takes it; empty for one that policies do not reach.
func EntityOfTable(table string) string {
	if table == teammember.Table {
		return "TeamMember"
	}
	for name, r := range resources {
		if r.table != "" && r.table == table {
			return name
		}
	}
	return ""
}

// prefixes name the resources of ids that inputs refer to.
var prefixes = map[string]string{
	"svc": "Service", "off": "Offering", "req": "Request", "cmt": "Comment", "wf": "Workflow", "exe": "Execution", "task": "Task",
	"apr": "Approval", "inc": "Incident", "usr": "User", "team": "Team", "org": "Organization", "sec": "Secret", "agt": "Agent", "cal": "Calendar",
	"whs": "WebhookSubscription", "whd": "WebhookDelivery", "sa": "ServiceAccount", "key": "APIKey",
}

// OfID returns the resource whose row an id may be of; empty for what is no id.
func OfID(s string) string {
	prefix, _, ok := strings.Cut(s, "_")
	if !ok || !id.Valid(prefix, s) {
		return ""
	}
	return prefixes[prefix]
}

// Load reads a row of a resource through db. Returns Ent's not-found error when there is none, or when the resource
// has no rows.
func Load(ctx context.Context, db *ent.Client, name, id string) (any, error) {
	r := resources[name]
	if r == nil || r.load == nil {
		return nil, &ent.NotFoundError{}
	}
	return r.load(ctx, db, id)
}
