package graph

import (
	"context"
	"strings"

	"atrium/graph/internal/relay"
	"atrium/internal/agent"
	"atrium/internal/apperr"
	"atrium/internal/audit"
	"atrium/internal/authn"
	"atrium/internal/catalog"
	"atrium/internal/identity"
	"atrium/internal/op"
	"atrium/internal/people"
	"atrium/internal/policy"
	"atrium/internal/request"
	"atrium/internal/secret"
	"atrium/internal/webhook"
	"atrium/internal/workflow"
)

// nodes read a row of any type by its id, by the id's prefix.
var nodes = map[string]func(context.Context, *op.Engine, string) (relay.Node, error){
	"agt":  node(agent.Get),
	"aud":  node(audit.GetEntry),
	"cal":  node(workflow.GetCalendar),
	"cli":  node(identity.GetClient),
	"dec":  node(policy.GetDecision),
	"key":  node(authn.GetKey),
	"off":  node(catalog.GetOffering),
	"org":  node(people.GetOrganization),
	"pol":  node(policy.Get),
	"req":  node(request.Get),
	"sa":   node(people.GetServiceAccount),
	"sec":  node(secret.GetSecret),
	"svc":  node(catalog.GetService),
	"team": node(people.GetTeam),
	"usr":  node(people.GetUser),
	"whd":  node(webhook.GetDelivery),
	"whs":  node(webhook.GetSubscription),
	"wf":   node(workflow.GetWorkflow),
}

func node[Row any](o *op.Operation[op.ByID, *Row]) func(context.Context, *op.Engine, string) (relay.Node, error) {
	return func(ctx context.Context, e *op.Engine, id string) (relay.Node, error) {
		row, err := read(ctx, e, o, id)
		if err != nil {
			return nil, err
		}
		return row, nil
	}
}

// node returns the row with the id, of whatever type. Returns not_found for an id of no type, too.
func (r *Resolver) node(ctx context.Context, id string) (relay.Node, error) {
	prefix, _, _ := strings.Cut(id, "_")
	get, known := nodes[prefix]
	if !known {
		return nil, apperr.Missing("Node")
	}
	return get(ctx, r.engine, id)
}
