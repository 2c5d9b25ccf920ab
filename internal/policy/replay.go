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
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
)

// Replay tries a draft set of policies on past decisions, and changes nothing.
var Replay = op.New("accesspolicy.replay", op.Spec{
	Resource: "AccessPolicy", Action: op.Read, AdminLayer: true,
	Summary: "Try a draft set of access policies on past decisions",
}, replay)

// ReplayInput is the draft, which replaces all of the company's policies, and the number of past decisions.
type ReplayInput struct {
	Policies []Draft `json:"policies" maxItems:"200"`
	Last     *int    `json:"last,omitempty" nullable:"true" minimum:"1" maximum:"1000" doc:"Decisions; 100 when not given."`
}

// Replayed lists the decisions that would change.
type Replayed struct {
	Examined int
	Allowed  int // of these; the log holds every refusal, and a sample of what was allowed
	Changed  []ChangedDecision
}

// ChangedDecision is a decision that the draft would change: whether it was allowed, and whether it would be.
type ChangedDecision struct {
	DecisionID string
	Decision   *ent.AccessDecision
	Before     bool
	After      bool
}

// replayTime limits a replay, including the compilation of its drafts.
const replayTime = time.Second

// replay considers only decisions about rows that the caller may read, because drafts that compare a text would reveal its
// content. Returns validation_error when it takes longer than replayTime.
func replay(ctx context.Context, tx *op.Tx, in ReplayInput) (out Replayed, err error) {
	err = tx.Costly(ctx, func(ctx context.Context) error {
		limited, cancel := context.WithTimeout(ctx, replayTime)
		defer cancel()
		out, err = replayed(limited, tx, in)
		if err != nil && limited.Err() != nil && ctx.Err() == nil {
			return apperr.InvalidField("last", "takes too long with these policies; ask for fewer decisions, or fewer policies")
		}
		return err
	})
	if err != nil {
		return Replayed{}, err
	}
	return out, nil
}

func replayed(ctx context.Context, tx *op.Tx, in ReplayInput) (Replayed, error) {
	set, err := draftSet(ctx, tx, in.Policies)
	if err != nil {
		return Replayed{}, err
	}
	rows, err := tx.AccessDecision.Query().Order(accessdecision.ByCreatedAt(sql.OrderDesc()), accessdecision.ByID(sql.OrderDesc())).
		Limit(op.Or(in.Last, 100)).All(ctx)
	if err != nil {
		return Replayed{}, fmt.Errorf("read the decision log: %w", err)
	}
	out := Replayed{Changed: []ChangedDecision{}}
	for _, d := range rows {
		if ctx.Err() != nil {
			return Replayed{}, fmt.Errorf("replay: %w", ctx.Err())
		}
		row, visible, err := loggedRow(ctx, tx, d)
		if err != nil {
			return Replayed{}, err
		}
		if !visible {
			continue
		}
		if out.Examined++; d.Allowed {
			out.Allowed++
		}
		if !byPolicies(d) {
			continue // scopes and roles decided, and would decide the same
		}
		after, err := again(ctx, tx, set, d, row)
		if err != nil {
			return Replayed{}, err
		}
		if after != d.Allowed {
			out.Changed = append(out.Changed, ChangedDecision{DecisionID: d.ID, Decision: d, Before: d.Allowed, After: after})
		}
	}
	return out, nil
}

// byPolicies reports whether policies took part in the decision.
func byPolicies(d *ent.AccessDecision) bool {
	return d.Allowed || d.DecidedKind == "policy" || d.DecidedKind == approval
}

// approval is the kind of a decision that had an agent wait for a person.
const approval = "approval"

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

// input is the logged input of a decision.
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

// again decides a past decision under the draft.
func again(ctx context.Context, tx *op.Tx, set *authz.Set, d *ent.AccessDecision, row authz.Row) (bool, error) {
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
	q := authz.Question{Verb: d.Verb, Action: d.Action, Resource: d.ResourceType}
	answer, err := tx.Authz().DecideRow(ctx, set, caller, q, row)
	if err != nil {
		return false, fmt.Errorf("decide %s again: %w", d.ID, err)
	}
	return answer.Allow && (d.DecidedKind != approval || answer.Approval == ""), nil
}

// loggedRow returns the row as it was or, if the log has none because no policy read it, as it is now. visible is false if
// the caller may not read the row, as it was or as it is.
func loggedRow(ctx context.Context, tx *op.Tx, d *ent.AccessDecision) (row authz.Row, visible bool, err error) {
	var in input
	if err := json.Unmarshal(d.Input, &in); err != nil {
		return authz.Row{}, false, fmt.Errorf("read decision %s: %w", d.ID, err)
	}
	id := op.Or(d.ResourceID, "")
	if row, err = tx.Below(ctx, authz.RowOfInput(d.ResourceType, id, in.Resource)); err != nil {
		return row, false, err
	}
	if in.Resource != nil {
		if visible, err = tx.Shows(ctx, row); err != nil || !visible {
			return row, false, err
		}
	}
	if id == "" || !authz.HasRows(d.ResourceType) || in.Resource != nil && !tx.Narrowed(d.ResourceType) {
		return row, true, nil
	}
	entity, err := authz.Load(ctx, tx.Client, d.ResourceType, id)
	switch {
	case ent.IsNotFound(err):
		return row, !tx.Narrowed(d.ResourceType), nil // hidden or deleted: this does not tell which
	case err != nil:
		return row, false, fmt.Errorf("load the row of decision %s: %w", d.ID, err)
	case in.Resource == nil:
		row, err = tx.RowOf(ctx, entity)
	}
	return row, true, err
}
