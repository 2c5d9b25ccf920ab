package relay

import (
	"atrium/ent"
	"atrium/internal/billing"
)

// The connections and edges of the schema, by their names in it.
//
//nolint:revive // the schema describes each of them
type (
	AgentConnection               = Connection[ent.Agent]
	AgentEdge                     = Edge[ent.Agent]
	ApiKeyConnection              = Connection[ent.APIKey]
	ApiKeyEdge                    = Edge[ent.APIKey]
	AuditEntryConnection          = Connection[ent.AuditEntry]
	AuditEntryEdge                = Edge[ent.AuditEntry]
	CalendarConnection            = Connection[ent.Calendar]
	CalendarEdge                  = Edge[ent.Calendar]
	CreditEntryConnection         = Connection[billing.HistoryEntry]
	CreditEntryEdge               = Edge[billing.HistoryEntry]
	OAuthClientConnection         = Connection[ent.OAuthClient]
	OAuthClientEdge               = Edge[ent.OAuthClient]
	OfferingConnection            = Connection[ent.Offering]
	OfferingEdge                  = Edge[ent.Offering]
	OrganizationConnection        = Connection[ent.Organization]
	OrganizationEdge              = Edge[ent.Organization]
	RequestConnection             = Connection[ent.Request]
	RequestEdge                   = Edge[ent.Request]
	AccessDecisionConnection      = Connection[ent.AccessDecision]
	AccessDecisionEdge            = Edge[ent.AccessDecision]
	AccessPolicyConnection        = Connection[ent.AccessPolicy]
	AccessPolicyEdge              = Edge[ent.AccessPolicy]
	AccessPolicyVersionConnection = Connection[ent.AccessPolicyVersion]
	AccessPolicyVersionEdge       = Edge[ent.AccessPolicyVersion]
	WebhookDeliveryConnection     = Connection[ent.WebhookDelivery]
	WebhookDeliveryEdge           = Edge[ent.WebhookDelivery]
	WebhookSubscriptionConnection = Connection[ent.WebhookSubscription]
	WebhookSubscriptionEdge       = Edge[ent.WebhookSubscription]
	SecretConnection              = Connection[ent.Secret]
	SecretEdge                    = Edge[ent.Secret]
	ServiceConnection             = Connection[ent.Service]
	ServiceEdge                   = Edge[ent.Service]
	ServiceAccountConnection      = Connection[ent.ServiceAccount]
	ServiceAccountEdge            = Edge[ent.ServiceAccount]
	SessionConnection             = Connection[ent.Session]
	SessionEdge                   = Edge[ent.Session]
	TeamConnection                = Connection[ent.Team]
	TeamEdge                      = Edge[ent.Team]
	UserConnection                = Connection[ent.User]
	UserEdge                      = Edge[ent.User]
	WorkflowConnection            = Connection[ent.Workflow]
	WorkflowEdge                  = Edge[ent.Workflow]
)

// Order is how a list is ordered.
type Order struct {
	Field     string
	Direction string // ASC or DESC
}

// Sort returns the order as lists of package op take it; empty for none.
func (o *Order) Sort() string {
	switch {
	case o == nil:
		return ""
	case o.Direction == "DESC":
		return "-" + o.Field
	}
	return o.Field
}

// The orders of the schema, by their names in it.
//
//nolint:revive // the schema describes each of them
type (
	AccessDecisionOrder      = Order
	AccessPolicyOrder        = Order
	AgentOrder               = Order
	ApiKeyOrder              = Order
	AuditOrder               = Order
	CalendarOrder            = Order
	OAuthClientOrder         = Order
	OrganizationOrder        = Order
	RequestOrder             = Order
	SecretOrder              = Order
	ServiceOrder             = Order
	ServiceAccountOrder      = Order
	SessionOrder             = Order
	TeamOrder                = Order
	UserOrder                = Order
	WebhookDeliveryOrder     = Order
	WebhookSubscriptionOrder = Order
	WorkflowOrder            = Order
)
