package agent

import (
	"context"
	"fmt"
	"slices"

	"atrium/ent"
	"atrium/ent/agent"
	"atrium/ent/modelconnection"
	"atrium/ent/predicate"
	entsecret "atrium/ent/secret"
	"atrium/internal/agent/settings"
	"atrium/internal/op"
	"atrium/internal/op/paging"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/egress"
	"atrium/internal/platform/text"
)

var connectionSorts = op.Sorts{
	"createdAt": modelconnection.FieldCreatedAt, "updatedAt": modelconnection.FieldUpdatedAt, "name": op.Alphabetical(modelconnection.FieldName),
}

// The operations on model connections. Only a person may run them, not an API key.
var (
	ListConnections = paging.NewList("modelconnection.list", op.Spec{
		Resource: "ModelConnection", Action: op.Read, AdminLayer: true, Sorts: connectionSorts, Summary: "List model connections",
	}, func(_ context.Context, tx *op.Tx, _ ListConnectionsInput) *ent.ModelConnectionQuery {
		return tx.ModelConnection.Query()
	})

	GetConnection = op.Get("modelconnection.read", op.Spec{
		Resource: "ModelConnection", Action: op.Read, AdminLayer: true, Summary: "Get a model connection",
	}, loadConnection)

	CreateConnection = op.New("modelconnection.create", op.Spec{
		Resource: "ModelConnection", Action: op.Create, AdminLayer: true, Summary: "Create a model connection",
	}, createConnection).WithCheck(func(ctx context.Context, tx *op.Tx, in CreateConnectionInput) error {
		return checkConnection(ctx, tx, in.BaseURL, true, in.SecretName, in.Models)
	}, "models")

	UpdateConnection = op.OnRow("modelconnection.update", op.Spec{
		Resource: "ModelConnection", Action: op.Update, AdminLayer: true, Summary: "Change a model connection, for runs as well that go on",
	}, loadConnection, updateConnection).WithCheck(func(ctx context.Context, tx *op.Tx, in UpdateConnectionInput) error {
		before, err := loadConnection(ctx, tx, in.ID)
		if err != nil {
			return err
		}
		return in.check(ctx, tx, before)
	}, "models")

	DeleteConnection = op.OnRow("modelconnection.delete", op.Spec{
		Resource: "ModelConnection", Action: op.Delete, AdminLayer: true, Summary: "Delete a model connection",
	}, loadConnection, deleteConnection)
)

// ListConnectionsInput selects a page of the connections.
type ListConnectionsInput struct{ paging.Page }

func loadConnection(ctx context.Context, tx *op.Tx, id string) (*ent.ModelConnection, error) {
	return op.Lock(tx, tx.ModelConnection.Query().Where(modelconnection.ID(id))).Only(ctx)
}

// CreateConnectionInput describes a new connection.
type CreateConnectionInput struct {
	Name       string   `json:"name" minLength:"1" maxLength:"200" pattern:"\\S" patternDescription:"more than blanks"`
	Kind       string   `json:"kind" enum:"openai" doc:"What it speaks: OpenAI's chat completions, with tools."`
	BaseURL    string   `json:"baseUrl" minLength:"1" maxLength:"2000" doc:"https, on the public internet; chat/completions is below it." example:"https://models.example.com/v1"`
	SecretName *string  `json:"secretName,omitempty" nullable:"true" maxLength:"64" doc:"The secret whose value is its key; none when not given."`
	Models     []string `json:"models" minItems:"1" maxItems:"20" doc:"What agents may ask for there; the first is what they get."`
}

func createConnection(ctx context.Context, tx *op.Tx, in CreateConnectionInput) (*ent.ModelConnection, error) {
	if err := checkConnection(ctx, tx, in.BaseURL, true, in.SecretName, in.Models); err != nil {
		return nil, err
	}
	if err := freeName(ctx, tx, in.Name, ""); err != nil {
		return nil, err
	}
	c, err := tx.ModelConnection.Create().SetName(in.Name).SetKind(modelconnection.Kind(in.Kind)).SetBaseURL(in.BaseURL).
		SetSecretName(op.Or(in.SecretName, "")).SetModels(in.Models).Save(ctx)
	if err != nil {
		return nil, fmt.Errorf("create the model connection: %w", err)
	}
	tx.Changed(nil, c)
	return c, nil
}

// freeName returns conflict if another connection than the one with this id has the name, in any case and Unicode form.
func freeName(ctx context.Context, tx *op.Tx, name, id string) error {
	if err := tx.LockName(ctx, "modelconnections/"+tx.Principal().CompanyID); err != nil {
		return err
	}
	others, err := tx.ModelConnection.Query().Where(modelconnection.IDNEQ(id), paging.FoldedIn[predicate.ModelConnection](modelconnection.FieldName, []string{name})).
		Select(modelconnection.FieldName).Strings(tx.Unfiltered(ctx, "connections that the caller does not see have names, too"))
	if err != nil {
		return fmt.Errorf("look for a connection of this name: %w", err)
	}
	if slices.ContainsFunc(others, func(other string) bool { return text.NameKey(other) == text.NameKey(name) }) {
		return apperr.New(apperr.Conflict, "Another model connection has this name.")
	}
	return nil
}

// UpdateConnectionInput changes the fields that are set.
type UpdateConnectionInput struct {
	op.ByID
	Name       op.Patch[string]   `json:"name,omitzero" minLength:"1" maxLength:"200" pattern:"\\S" patternDescription:"more than blanks"`
	BaseURL    op.Patch[string]   `json:"baseUrl,omitzero" minLength:"1" maxLength:"2000" doc:"https, on the public internet; chat/completions is below it."`
	SecretName op.Patch[string]   `json:"secretName,omitzero" nullable:"true" maxLength:"64" doc:"The secret whose value is its key; null for none."`
	Models     op.Patch[[]string] `json:"models,omitzero" minItems:"1" maxItems:"20" doc:"What agents may ask for there; the first is what they get."`
}

// check returns a validation error for what the connection cannot become.
func (in UpdateConnectionInput) check(ctx context.Context, tx *op.Tx, before *ent.ModelConnection) error {
	models, _ := op.Given(in.Models)
	name := in.SecretName.Value()
	if in.BaseURL.IsSet() && !in.SecretName.IsSet() {
		name = &before.SecretName // it would go to another address
	}
	url, moves := op.Given(in.BaseURL)
	if !moves {
		url = before.BaseURL
	}
	return checkConnection(ctx, tx, url, moves, name, models)
}

// updateConnection returns conflict if it removes a model that an agent uses.
func updateConnection(ctx context.Context, tx *op.Tx, before *ent.ModelConnection, in UpdateConnectionInput) (*ent.ModelConnection, error) {
	if err := in.check(ctx, tx, before); err != nil {
		return nil, err
	}
	if name, set := op.Given(in.Name); set {
		if err := freeName(ctx, tx, name, before.ID); err != nil {
			return nil, err
		}
	}
	u := before.Update()
	op.Set(in.Name, u.SetName)
	op.Set(in.BaseURL, u.SetBaseURL)
	op.SetOrClear(in.SecretName, u.SetSecretName, func() *ent.ModelConnectionUpdateOne { return u.SetSecretName("") })
	if models, set := op.Given(in.Models); set {
		if err := checkUnused(ctx, tx, before, func(model string) bool { return model != "" && !slices.Contains(models, model) }); err != nil {
			return nil, err
		}
		u.SetModels(models)
	}
	after, err := op.Save(ctx, tx, before, u)
	if err != nil {
		return nil, fmt.Errorf("update the model connection: %w", err)
	}
	return after, nil
}

// deleteConnection returns conflict if an agent uses the connection.
func deleteConnection(ctx context.Context, tx *op.Tx, c *ent.ModelConnection, _ op.ByID) (struct{}, error) {
	if err := checkUnused(ctx, tx, c, func(string) bool { return true }); err != nil {
		return struct{}{}, err
	}
	return op.Remove(ctx, tx, c, tx.ModelConnection.DeleteOne(c).Exec)
}

// checkUnused returns conflict if the draft or the published version of an agent uses the connection with a model for which which
// returns true.
func checkUnused(ctx context.Context, tx *op.Tx, c *ent.ModelConnection, which func(model string) bool) error {
	all := tx.Unfiltered(ctx, "an agent that the caller does not see keeps its model, too")
	list, err := tx.Agent.Query().Where(agent.Or(agent.ModelConnectionID(c.ID), agent.VersionGT(0))).All(all)
	if err != nil {
		return fmt.Errorf("look for agents that use the connection: %w", err)
	}
	for _, a := range list {
		uses := a.ModelConnectionID != nil && *a.ModelConnectionID == c.ID && which(a.Model)
		if a.Version > 0 && a.Source == agent.SourceMANAGED && !uses {
			s, err := settings.Published(all, tx.Client, a.ID, a.Version)
			if err != nil {
				return err
			}
			uses = s.ModelConnectionID == c.ID && which(s.Model)
		}
		if uses {
			return op.InUse(ctx, tx, tx.Agent.Query().Where(agent.ID(a.ID)), func(a *ent.Agent) error {
				if a == nil {
					return apperr.New(apperr.Conflict, "An agent uses it.")
				}
				return apperr.New(apperr.Conflict, "The agent %q uses it.", a.Name)
			})
		}
	}
	return nil
}

// checkConnection returns validation_error for an address that is set and that customers may not use, a secret that is unknown or may not
// be sent to the address, and invalid or repeated names of models.
func checkConnection(ctx context.Context, tx *op.Tx, url string, isSet bool, secretName *string, models []string) error {
	var refs op.Refs
	if isSet {
		refs.Refused(tx.CheckURL("baseUrl", url))
	}
	if secretName != nil && *secretName != "" {
		s, err := tx.Secret.Query().Where(entsecret.Name(*secretName)).Only(ctx) // one that policies hide from the caller cannot be sent anywhere
		switch {
		case ent.IsNotFound(err):
			refs.Fault("secretName", "is no secret of the company")
		case err != nil:
			return fmt.Errorf("look the secret up: %w", err)
		case !egress.Hosts(s.AllowedHosts).AllowURL(url):
			refs.Fault("secretName", "may not be sent to the baseUrl, which its allowed hosts do not name")
		}
	}
	for i, m := range models {
		switch {
		case m == "" || len([]rune(m)) > 200:
			refs.Fault("models", "must be names of 1 to 200 characters")
		case slices.Contains(models[:i], m):
			refs.Fault("models", "names "+m+" twice")
		}
	}
	return refs.Err()
}
