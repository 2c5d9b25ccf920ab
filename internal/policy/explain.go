package policy

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"atrium/authz"
	"atrium/ent"
	"atrium/ent/accesspolicy"
	"atrium/ent/agent"
	"atrium/ent/agentversion"
	"atrium/ent/user"
	"atrium/internal/access"
	"atrium/internal/apikey"
	"atrium/internal/apperr"
	"atrium/internal/op"
	"atrium/internal/principal"
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
	q, err := questionOf(in)
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
	d, err := tx.Authz().Decide(ctx, who, q)
	if err != nil {
		return Explanation{}, fmt.Errorf("explain the role's part: %w", err)
	}
	if !d.Allow || entity != nil && !op.Reaches(d.Rows, entity, who.ID) {
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

// whois returns a principal of the company with all scopes, and the status if it keeps the principal from calling.
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
		return agentOf(ctx, tx, who, id, none)
	case "key":
		return keyHolder(ctx, tx, id, none)
	}
	return nil, "", none
}

// agentOf turns who into the principal of an agent's runs: with the role and the scopes of its published version, and never more
// rights than its owner.
func agentOf(ctx context.Context, tx *op.Tx, who *principal.Principal, id string, none error) (*principal.Principal, string, error) {
	a, err := tx.Agent.Query().Where(agent.ID(id)).WithOwner().Only(ctx)
	if ent.IsNotFound(err) {
		return nil, "", none
	}
	if err != nil {
		return nil, "", fmt.Errorf("look the agent up: %w", err)
	}
	if err := tx.MayRead(ctx, a); err != nil {
		return nil, "", err
	}
	s := struct {
		Role   string   `json:"role"`
		Scopes []string `json:"scopes"`
	}{string(a.Role), a.Scopes}
	if a.Version > 0 {
		v, err := tx.AgentVersion.Query().Where(agentversion.AgentID(id), agentversion.Version(a.Version)).Only(ctx)
		if err != nil {
			return nil, "", fmt.Errorf("look the agent's version up: %w", err)
		}
		if err := json.Unmarshal(v.Settings, &s); err != nil {
			return nil, "", fmt.Errorf("read the agent's settings: %w", err)
		}
	}
	scopes, err := principal.ParseScopes(s.Scopes)
	if err != nil {
		return nil, "", fmt.Errorf("read the agent's scopes: %w", err)
	}
	who.Type, who.ID, who.Name, who.Role, who.Scopes, who.Method = principal.TypeAgent, a.ID, a.Name, principal.Role(s.Role), scopes, principal.MethodLocal
	switch owner := a.Edges.Owner; {
	case owner == nil || access.Gone(owner.Status):
		return who, "deactivated", nil
	case owner.Role == user.RoleMember:
		who.Role = principal.Member
	}
	return who, "", nil
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
	who, _, err := whois(ctx, tx, *behind) // a deactivated user's keys stay valid
	if err != nil {
		return nil, "", err
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

// questionOf finds the operation that performs the action on the resource.
func questionOf(in ExplainInput) (authz.Question, error) {
	var found *op.Info
	for _, info := range op.All() {
		if info.Resource != in.ResourceType || string(info.Action) != in.Action {
			continue
		}
		if found == nil || strings.HasSuffix(info.Name, "."+in.Action) {
			found = info
		}
	}
	if found == nil {
		return authz.Question{}, apperr.InvalidField("resourceType", "is no resource with this action")
	}
	return authz.Question{
		Verb: found.Verb, Scope: found.Scope, AdminLayer: found.AdminLayer, Action: in.Action, Resource: in.ResourceType,
	}, nil
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
	if !ok || !authz.Tells(name) {
		return nil
	}
	_, err := authz.Load(tx.Filtered(ctx), tx.Client, name, id)
	if ent.IsNotFound(err) {
		return apperr.New(apperr.Forbidden, "The access policies do not allow this.")
	}
	return err
}
