package policy

import (
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"time"

	"entgo.io/ent/dialect/sql"

	"atrium/authz"
	"atrium/ent"
	"atrium/ent/accessdecision"
	"atrium/internal/apperr"
	"atrium/internal/op"
	"atrium/internal/principal"
)

// Replay tries a draft set of policies on what was decided before, and changes nothing.
var Replay = op.New("accesspolicy.replay", op.Spec{
	Resource: "AccessPolicy", Action: op.Read, AdminLayer: true,
	Summary: "Try a draft set of access policies on past decisions",
}, replay)

// ReplayInput is the draft, which stands for all of the company's policies, and how far back to go.
type ReplayInput struct {
	Policies []Draft `json:"policies" maxItems:"200"`
	Last     *int    `json:"last,omitempty" nullable:"true" minimum:"1" maximum:"1000" doc:"Decisions; 100 when not given."`
}

// Replayed says what would be decided otherwise.
type Replayed struct {
	Examined int
	Changed  []ChangedDecision
}

// ChangedDecision is a decision that the draft would change: whether it was allowed, and whether it would be.
type ChangedDecision struct {
	DecisionID string
	Before     bool
	After      bool
}

func replay(ctx context.Context, tx *op.Tx, in ReplayInput) (Replayed, error) {
	set, err := draftSet(ctx, tx, in.Policies)
	if err != nil {
		return Replayed{}, err
	}
	rows, err := tx.AccessDecision.Query().Order(accessdecision.ByCreatedAt(sql.OrderDesc()), accessdecision.ByID(sql.OrderDesc())).
		Limit(op.Or(in.Last, 100)).All(ctx)
	if err != nil {
		return Replayed{}, fmt.Errorf("read the decision log: %w", err)
	}
	out := Replayed{Examined: len(rows), Changed: []ChangedDecision{}}
	for _, d := range rows {
		if !byPolicies(d) {
			continue // scopes and roles decided, and would again
		}
		after, err := again(ctx, tx, set, d)
		if err != nil {
			return Replayed{}, err
		}
		if after != d.Allowed {
			out.Changed = append(out.Changed, ChangedDecision{DecisionID: d.ID, Before: d.Allowed, After: after})
		}
	}
	return out, nil
}

// byPolicies tells whether policies had a say in the decision.
func byPolicies(d *ent.AccessDecision) bool { return d.Allowed || d.DecidedKind == "policy" }

// draftSet compiles the drafts. Returns validation_error with details named "policies[0].condition.…".
func draftSet(ctx context.Context, tx *op.Tx, drafts []Draft) (*authz.Set, error) {
	var details []apperr.Detail
	var compiled []*authz.Compiled
	for i, draft := range drafts {
		c, err := draft.compile(ctx, tx)
		if err != nil {
			if apperr.CodeOf(err) != apperr.Validation {
				return nil, err
			}
			for _, d := range apperr.From(err).Details {
				details = append(details, apperr.Detail{Field: fmt.Sprintf("policies[%d].%s", i, d.Field), Message: d.Message})
			}
			continue
		}
		c.ID = fmt.Sprintf("policies[%d]", i)
		compiled = append(compiled, c)
	}
	if len(details) > 0 {
		return nil, apperr.Invalid(details...)
	}
	return authz.NewSet(compiled), nil
}

// input is what the log kept of a decision.
type input struct {
	Principal struct {
		ID         string            `json:"id"`
		Type       string            `json:"type"`
		Role       string            `json:"role"`
		TeamIDs    []string          `json:"teamIds"`
		Attributes map[string]string `json:"attributes"`
	} `json:"principal"`
	Context struct {
		IP         string `json:"ip"`
		Time       string `json:"time"`
		AuthMethod string `json:"authMethod"`
	} `json:"context"`
	Resource map[string]any `json:"resource"`
}

// again decides by the draft what was decided before.
func again(ctx context.Context, tx *op.Tx, set *authz.Set, d *ent.AccessDecision) (bool, error) {
	var in input
	if err := json.Unmarshal(d.Input, &in); err != nil {
		return false, fmt.Errorf("read decision %s: %w", d.ID, err)
	}
	caller := &authz.Caller{TeamIDs: in.Principal.TeamIDs, Attributes: in.Principal.Attributes, Principal: &principal.Principal{
		CompanyID: d.CompanyID, Type: principal.Type(in.Principal.Type), ID: in.Principal.ID, Role: principal.Role(in.Principal.Role),
		Scopes: principal.AllScopes, Method: principal.Method(in.Context.AuthMethod),
	}}
	if ip, err := netip.ParseAddr(in.Context.IP); err == nil {
		caller.Principal.IP = ip
	}
	caller.Time = d.CreatedAt
	if t, err := time.Parse(authz.MomentFormat, in.Context.Time); err == nil {
		caller.Time = t
	}
	row, err := keptRow(ctx, tx, d, in)
	if err != nil {
		return false, err
	}
	q := authz.Question{Verb: d.Verb, Action: d.Action, Resource: d.ResourceType}
	answer, err := tx.Authz().DecideRow(ctx, set, caller, q, row)
	if err != nil {
		return false, fmt.Errorf("decide %s again: %w", d.ID, err)
	}
	return answer.Allow, nil
}

// keptRow is the row as it was; where the log has none, because no policy looked at it, as it is now.
func keptRow(ctx context.Context, tx *op.Tx, d *ent.AccessDecision, in input) (authz.Row, error) {
	id := op.Or(d.ResourceID, "")
	if in.Resource != nil || id == "" {
		return authz.RowOfInput(d.ResourceType, id, in.Resource), nil
	}
	all := tx.Unfiltered(ctx, "a draft is tried on what is hidden, too")
	entity, err := authz.Load(all, tx.Client, d.ResourceType, id)
	if ent.IsNotFound(err) {
		return authz.Row{Resource: d.ResourceType, ID: id}, nil
	}
	if err != nil {
		return authz.Row{}, fmt.Errorf("load the row of decision %s: %w", d.ID, err)
	}
	return tx.RowOf(all, entity) //nolint:wrapcheck // says what it was doing
}
