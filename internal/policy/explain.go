package policy

import (
	"context"
	"fmt"
	"strings"

	"atrium/authz"
	"atrium/ent"
	"atrium/ent/accesspolicy"
	"atrium/internal/identity/access"
	"atrium/internal/identity/apikey"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
)

// Explain reports whether a principal of the company may perform an action on a row, and why.
var Explain = op.New("accesspolicy.explain", op.Spec{
	Resource: "AccessPolicy", Action: op.Read, AdminLayer: true,
	Summary: "Explain why somebody may or may not do something",
}, explain)

// ExplainInput is the question.
type ExplainInput struct {
	PrincipalID  string  `json:"principalId" minLength:"1" maxLength:"64" doc:"A user, a service account, an agent or an API key of the company."`
	Action       string  `json:"action" enum:"read,create,update,delete"`
	ResourceType string  `json:"resourceType" minLength:"1" maxLength:"64" doc:"As policies spell it: Service."`
	ResourceID   *string `json:"resourceId,omitempty" nullable:"true" maxLength:"64" doc:"The row; none for a create."`
}

// Explanation is the answer.
type Explanation struct {
	Allowed   bool
	DecidedBy DecidedBy
	Unmet     []Unmet // the conditions that were false, of all policies about the action and the resource
}

// Unmet is a condition that was false; Have is nil when the attribute is missing.
type Unmet struct {
	PolicyID string
	Path     string // "resource.tags.env"
	Op       string // "eq"
	Want     any    // the value that it was compared with; for a variable, the variable's value
	Have     any
}

// unmetOf copies authz's answer for the doors, which do not import authz.
func unmetOf(list []authz.Unmet) []Unmet {
	out := make([]Unmet, len(list))
	for i, u := range list {
		out[i] = Unmet(u)
	}
	return out
}

// DecidedBy names the deciding rule: a scope, a role, the status of a user, an access policy, or the operator's own policies. A
// policy without an id means that no policy allows the action.
type DecidedBy struct {
	Kind   string
	ID     string
	Name   string
	Effect string // of the access policy; empty for other rules
}

// explain requires that the caller may read the principal and the row, because the conditions' results reveal the row's content.
func explain(ctx context.Context, tx *op.Tx, in ExplainInput) (out Explanation, err error) {
	err = tx.Costly(ctx, func(ctx context.Context) error {
		out, err = explained(ctx, tx, in)
		return err
	})
	return out, err
}

func explained(ctx context.Context, tx *op.Tx, in ExplainInput) (Explanation, error) {
	all := tx.Unfiltered(ctx, "what is hidden is told from what is not there; MayRead asks for each row")
	who, status, err := whois(all, tx, in.PrincipalID)
	if err != nil {
		return Explanation{}, err
	}
	operations, err := operationsOf(in)
	if err != nil {
		return Explanation{}, err
	}
	row, entity, err := rowOf(all, tx, in)
	if err != nil {
		return Explanation{}, err
	}
	if status != "" {
		return Explanation{DecidedBy: DecidedBy{Kind: "status", ID: status, Name: status}, Unmet: []Unmet{}}, nil
	}
	q, d, err := byRole(ctx, tx, who, operations, entity)
	if err != nil {
		return Explanation{}, err
	}
	if !d.Allow {
		return Explanation{DecidedBy: DecidedBy{Kind: d.By.Kind, ID: d.By.ID, Name: d.By.ID}, Unmet: []Unmet{}}, nil
	}
	set, caller, err := tx.PoliciesOf(ctx, who)
	if err != nil {
		return Explanation{}, fmt.Errorf("explain the policies' part: %w", err)
	}
	actions := []string{in.Action}
	if entity != nil && (in.Action == "update" || in.Action == "delete") {
		actions = []string{"read", in.Action} // a hidden row cannot be changed
	}
	var out Explanation
	for _, action := range actions {
		q.Action = action
		d, unmet, err := tx.Authz().Explain(ctx, set, caller, q, row)
		if err != nil {
			return Explanation{}, fmt.Errorf("explain the policies' part: %w", err)
		}
		out = Explanation{Allowed: d.Allow, DecidedBy: DecidedBy{Kind: d.By.Kind, ID: d.By.ID, Name: d.By.ID}, Unmet: unmetOf(unmet)}
		if d.Approval != "" { // allowed after a person's approval
			out.DecidedBy = DecidedBy{Kind: "policy", ID: d.Approval}
		}
		if !d.Allow {
			break
		}
	}
	err = nameOf(ctx, tx, &out.DecidedBy)
	return out, err
}

// nameOf sets the policy's name.
func nameOf(ctx context.Context, tx *op.Tx, by *DecidedBy) error {
	if by.Kind != "policy" {
		return nil
	}
	if by.ID == "" {
		by.Name = "No policy allows it"
		return nil
	}
	p, err := tx.AccessPolicy.Query().Where(accesspolicy.ID(by.ID)).Only(ctx)
	if err != nil {
		if ent.IsNotFound(err) {
			return nil // deleted since, or hidden
		}
		return fmt.Errorf("look the policy up: %w", err)
	}
	by.Name, by.Effect = p.Name, string(p.Effect)
	return nil
}

// whois returns a principal of the company with all scopes, and the status if it keeps the principal from calling; no principal for
// an agent that may not call.
func whois(ctx context.Context, tx *op.Tx, id string) (*principal.Principal, string, error) {
	none := apperr.InvalidField("principalId", "is no user, service account, agent or API key of this company")
	who := &principal.Principal{CompanyID: tx.Principal().CompanyID, Sandbox: tx.Principal().Sandbox, Scopes: principal.AllScopes, Method: principal.MethodSession}
	kind, _, _ := strings.Cut(id, "_")
	switch kind {
	case "usr":
		u, err := tx.User.Get(ctx, id)
		if ent.IsNotFound(err) {
			return nil, "", none
		}
		if err != nil {
			return nil, "", fmt.Errorf("look the user up: %w", err)
		}
		if err := tx.MayRead(ctx, u); err != nil {
			return nil, "", err
		}
		who.Type, who.ID, who.Name, who.Email, who.Role = principal.TypeUser, u.ID, u.Name, u.Email, principal.Role(u.Role)
		if access.Gone(u.Status) {
			return who, string(u.Status), nil
		}
		return who, "", nil
	case "sa":
		sa, err := tx.ServiceAccount.Get(ctx, id)
		if ent.IsNotFound(err) {
			return nil, "", none
		}
		if err != nil {
			return nil, "", fmt.Errorf("look the service account up: %w", err)
		}
		if err := tx.MayRead(ctx, sa); err != nil {
			return nil, "", err
		}
		who.Type, who.ID, who.Name, who.Role, who.Method = principal.TypeServiceAccount, sa.ID, sa.Name, principal.Role(sa.Role), principal.MethodAPIKey
		return who, "", nil
	case "agt":
		return agentOf(ctx, tx, id, none)
	case "key":
		return keyHolder(ctx, tx, id, none)
	}
	return nil, "", none
}

// agentOf returns the principal of an agent.
func agentOf(ctx context.Context, tx *op.Tx, id string, none error) (*principal.Principal, string, error) {
	a, err := tx.Agent.Get(ctx, id)
	if ent.IsNotFound(err) {
		return nil, "", none
	}
	if err != nil {
		return nil, "", fmt.Errorf("look the agent up: %w", err)
	}
	if err := tx.MayRead(ctx, a); err != nil {
		return nil, "", err
	}
	who, status, err := tx.Agents().PrincipalOf(ctx, tx.Client, a)
	if who != nil {
		who.Sandbox = tx.Principal().Sandbox
	}
	return who, status, err
}

// keyHolder returns the principal of calls with an API key.
func keyHolder(ctx context.Context, tx *op.Tx, id string, none error) (*principal.Principal, string, error) {
	key, err := tx.APIKey.Get(ctx, id)
	if ent.IsNotFound(err) {
		return nil, "", none
	}
	if err != nil {
		return nil, "", fmt.Errorf("look the API key up: %w", err)
	}
	if err := tx.MayRead(ctx, key); err != nil {
		return nil, "", err
	}
	behind := key.UserID
	if behind == nil {
		behind = key.ServiceAccountID
	}
	if behind == nil {
		behind = key.AgentID
	}
	if behind == nil {
		return nil, "", none
	}
	who, status, err := whois(ctx, tx, *behind) // a deactivated user's keys stay valid
	if err != nil || who == nil {
		return nil, status, err
	}
	scopes, err := principal.ParseScopes(key.Scopes)
	if err != nil {
		return nil, "", fmt.Errorf("read the key's scopes: %w", err)
	}
	who.Method, who.Scopes, who.KeyID, who.KeyName = principal.MethodAPIKey, scopes&who.Scopes, key.ID, key.Name
	if s := apikey.Status(key, tx.Now(ctx)); s != apikey.Active {
		return who, s, nil
	}
	return who, "", nil
}

// operationsOf finds the operations that perform the action on the resource: the one with the action's name, or else all.
func operationsOf(in ExplainInput) ([]*op.Info, error) {
	var found []*op.Info
	for _, info := range op.All() {
		if info.Resource != in.ResourceType || string(info.Action) != in.Action {
			continue
		}
		if strings.HasSuffix(info.Name, "."+in.Action) {
			return []*op.Info{info}, nil
		}
		found = append(found, info)
	}
	if len(found) == 0 {
		return nil, apperr.InvalidField("resourceType", "is no resource with this action")
	}
	return found, nil
}

// byRole decides by scope, role and reach, for the first of the operations that they let who perform on the row, or else for the
// first of all.
func byRole(ctx context.Context, tx *op.Tx, who *principal.Principal, operations []*op.Info, row any) (authz.Question, authz.Decision, error) {
	var q authz.Question
	var refused authz.Decision
	for i, info := range operations {
		asked := authz.Question{Verb: info.Verb, Scope: info.Scope, AdminLayer: info.AdminLayer, Action: string(info.Action), Resource: info.Resource}
		d, err := tx.Authz().Decide(ctx, who, asked)
		if err != nil {
			return q, d, fmt.Errorf("explain the role's part: %w", err)
		}
		if d.Allow && row != nil {
			if d.Allow, err = tx.Within(ctx, info, d.Rows, row, who.ID); err != nil {
				return q, d, err
			}
		}
		if d.Allow {
			return asked, d, nil
		}
		if i == 0 {
			q, refused = asked, d
		}
	}
	return q, refused, nil
}

// rowOf loads the row of the question.
func rowOf(ctx context.Context, tx *op.Tx, in ExplainInput) (authz.Row, any, error) {
	if in.ResourceID == nil {
		if in.Action != "create" && authz.HasRows(in.ResourceType) {
			return authz.Row{}, nil, apperr.InvalidField("resourceId", "is required")
		}
		return authz.Row{Resource: in.ResourceType}, nil, nil
	}
	entity, err := authz.Load(ctx, tx.Client, in.ResourceType, *in.ResourceID)
	if ent.IsNotFound(err) {
		return authz.Row{}, nil, apperr.InvalidField("resourceId", "is no row of this company")
	}
	if err != nil {
		return authz.Row{}, nil, fmt.Errorf("load the row: %w", err)
	}
	if err := mayHear(ctx, tx, entity); err != nil {
		return authz.Row{}, nil, err
	}
	row, err := tx.RowOf(ctx, entity)
	return row, entity, err
}

// mayHear is MayRead, and also covers rows that are about other rows: for these it checks whether the caller's queries find them.
func mayHear(ctx context.Context, tx *op.Tx, entity any) error {
	if err := tx.MayRead(ctx, entity); err != nil {
		return err
	}
	name, id, ok := authz.EntityOf(entity)
	if !ok || !authz.AboutOthers(name) {
		return nil
	}
	_, err := authz.Load(tx.Filtered(ctx), tx.Client, name, id)
	if ent.IsNotFound(err) {
		return apperr.New(apperr.Forbidden, "The access policies do not allow this.")
	}
	return err
}
