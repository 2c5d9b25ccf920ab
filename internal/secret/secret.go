package secret

import (
	"context"
	"fmt"

	"entgo.io/ent/dialect/sql"

	"atrium/ent"
	"atrium/ent/modelconnection"
	"atrium/ent/predicate"
	"atrium/ent/secret"
	"atrium/internal/op"
	"atrium/internal/op/paging"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/egress"
	"atrium/internal/platform/id"
	"atrium/internal/workflow"
)

// secretSorts are the fields that the list of secrets can be ordered by.
var secretSorts = op.Sorts{"createdAt": secret.FieldCreatedAt, "updatedAt": secret.FieldUpdatedAt, "name": op.Alphabetical(secret.FieldName)}

// The operations on secrets. None of them returns a value.
var (
	ListSecrets = paging.NewList("secret.list", op.Spec{
		Resource: "Secret", Action: op.Read, Scope: "secrets:read", Sorts: secretSorts,
		Summary: "List secrets, without their values",
	}, func(_ context.Context, tx *op.Tx, in ListSecretsInput) *ent.SecretQuery {
		return tx.Secret.Query().Where(paging.Words[predicate.Secret](nil, in.Q, secret.FieldName)...)
	})

	GetSecret = op.Get("secret.read", op.Spec{
		Resource: "Secret", Action: op.Read, Scope: "secrets:read",
		Summary: "Get a secret, without its value",
	}, loadSecret)

	CreateSecret = op.New("secret.create", op.Spec{
		Resource: "Secret", Action: op.Create, Scope: "secrets:write",
		Summary: "Create a secret",
	}, createSecret).WithCheck(func(_ context.Context, _ *op.Tx, in CreateSecretInput) error {
		_, err := checked(&in.Value, &in.AllowedHosts)
		return err
	})

	UpdateSecret = op.OnRow("secret.update", op.Spec{
		Resource: "Secret", Action: op.Update, Scope: "secrets:write",
		Summary: "Update a secret: a value replaces the old one and makes a new version",
	}, loadSecret, updateSecret).WithRowVerbs(func(row any, in UpdateSecretInput) []string {
		if before, ok := row.(*ent.Secret); ok && in.narrows(before) {
			return nil
		}
		return []string{"secret.send"}
	}).WithCheck(func(_ context.Context, _ *op.Tx, in UpdateSecretInput) error {
		_, err := checked(in.Value.Value(), in.AllowedHosts.Value())
		return err
	})

	RotateSecret = op.OnRow("secret.rotate", op.Spec{
		Resource: "Secret", Action: op.Update, Scope: "secrets:write",
		Summary: "Replace a secret's value, which makes a new version",
	}, loadSecret, rotateSecret).WithVerbs(func(RotateSecretInput) []string {
		return []string{"secret.update", "secret.send"} // the same rights and audit entry as PATCH, which does the same
	})

	DeleteSecret = op.OnRow("secret.delete", op.Spec{
		Resource: "Secret", Action: op.Delete, Scope: "secrets:write",
		Summary: "Delete a secret",
	}, loadSecret, deleteSecret)
)

// ListSecretsInput filters and pages the list of secrets.
type ListSecretsInput struct {
	paging.Page
	Q string `json:"-" query:"q" maxLength:"200" doc:"Secrets whose name has these words, or parts of them."`
}

func loadSecret(ctx context.Context, tx *op.Tx, id string) (*ent.Secret, error) {
	return op.Lock(tx, tx.Secret.Query().Where(secret.ID(id))).Only(ctx)
}

// CreateSecretInput describes a new secret.
type CreateSecretInput struct {
	Name         string   `json:"name" pattern:"^[A-Z][A-Z0-9_]{0,63}$" doc:"What workflows call it: secrets.NAME. Unique in the company, and not changeable."`
	Value        Value    `json:"value" minLength:"1" maxLength:"65536" writeOnly:"true" example:"9f2c1e" doc:"At most 64 KiB; never returned."`
	AllowedHosts []string `json:"allowedHosts" minItems:"1" maxItems:"100" example:"[\"api.example.com\"]" doc:"The hosts to which it may be sent, whatever the port: names, *.example.com for all names below, IP addresses, or * for everywhere."`
	Description  *string  `json:"description,omitempty" nullable:"true" maxLength:"10000"`
}

func createSecret(ctx context.Context, tx *op.Tx, in CreateSecretInput) (*ent.Secret, error) {
	const first = 1
	hosts, err := checked(&in.Value, &in.AllowedHosts)
	if err != nil {
		return nil, err
	}
	rowID := id.New("sec")
	if _, err := room(ctx, tx, rowID, len(in.Value)); err != nil {
		return nil, err
	}
	sealed, err := seal(tx, in.Value, rowID, first)
	if err != nil {
		return nil, err
	}
	s, err := tx.Secret.Create().
		SetID(rowID).
		SetName(in.Name).
		SetDescription(op.Or(in.Description, "")).
		SetVersion(first).
		SetSealed(sealed).
		SetAllowedHosts(hosts).
		SetCreatedBy(tx.Principal().ID).
		Save(ctx)
	if err != nil {
		return nil, fmt.Errorf("create the secret: %w", err)
	}
	tx.Changed(nil, s)
	return s, nil
}

// UpdateSecretInput changes the fields that are present.
type UpdateSecretInput struct {
	op.ByID
	Value        op.Patch[Value]    `json:"value,omitzero" minLength:"1" maxLength:"65536" writeOnly:"true" example:"9f2c1e" doc:"Replaces the value and makes a new version; at most 64 KiB; never returned."`
	AllowedHosts op.Patch[[]string] `json:"allowedHosts,omitzero" minItems:"1" maxItems:"100" doc:"Replaces the hosts to which it may be sent. Fewer hosts take no recent proof of a person."`
	Description  op.Patch[string]   `json:"description,omitzero" nullable:"true" maxLength:"10000"`
}

// narrows reports whether the update only takes hosts away, which gives a secret to nobody.
func (in UpdateSecretInput) narrows(before *ent.Secret) bool {
	list, ok := op.Given(in.AllowedHosts)
	if !ok || in.Value.IsSet() || in.Description.IsSet() {
		return false
	}
	hosts, err := egress.ParseHosts(list)
	return err == nil && hosts.Within(before.AllowedHosts)
}

// checked returns the hosts as they are stored, or validation_error for a value that none can have and for what is no host. What is not
// given is nil.
func checked(value *Value, list *[]string) (hosts egress.Hosts, err error) {
	var faults op.Refs
	if value != nil {
		faults.Refused(value.check())
	}
	if list != nil {
		if hosts, err = egress.ParseHosts(*list); err != nil {
			faults.Fault("allowedHosts", err.Error())
		}
	}
	return hosts, faults.Err()
}

func updateSecret(ctx context.Context, tx *op.Tx, before *ent.Secret, in UpdateSecretInput) (*ent.Secret, error) {
	hosts, err := checked(in.Value.Value(), in.AllowedHosts.Value())
	if err != nil {
		return nil, err
	}
	u := before.Update()
	if value, ok := op.Given(in.Value); ok {
		left, err := room(ctx, tx, before.ID, len(value))
		if err != nil && len(value) > len(before.Sealed) {
			return nil, err
		}
		version := before.Version + 1
		sealed, err := seal(tx, value, before.ID, version)
		if err != nil {
			return nil, err
		}
		previous, err := withPrevious(before, left)
		if err != nil {
			return nil, err
		}
		u.SetSealed(sealed).SetVersion(version).SetPrevious(previous)
	}
	if hosts != nil {
		u.SetAllowedHosts(hosts)
	}
	op.SetOrClear(in.Description, u.SetDescription, func() *ent.SecretUpdateOne { return u.SetDescription("") })
	after, err := op.Save(ctx, tx, before, u)
	if err != nil {
		return nil, fmt.Errorf("update the secret: %w", err)
	}
	return after, nil
}

// RotateSecretInput replaces a secret's value.
type RotateSecretInput struct {
	op.ByID
	Value Value `json:"value" minLength:"1" maxLength:"65536" writeOnly:"true" doc:"At most 64 KiB; never returned."`
}

func rotateSecret(ctx context.Context, tx *op.Tx, before *ent.Secret, in RotateSecretInput) (*ent.Secret, error) {
	return updateSecret(ctx, tx, before, UpdateSecretInput{ByID: in.ByID, Value: op.SetTo(in.Value)})
}

func deleteSecret(ctx context.Context, tx *op.Tx, s *ent.Secret, _ op.ByID) (struct{}, error) {
	if err := workflow.Unused(ctx, tx, "secret", s.Name); err != nil {
		return struct{}{}, err
	}
	err := op.InUse(ctx, tx, tx.ModelConnection.Query().Where(modelconnection.SecretName(s.Name)), func(model *ent.ModelConnection) error {
		if model == nil {
			return apperr.New(apperr.Conflict, "A model connection uses it.")
		}
		return apperr.New(apperr.Conflict, "The model connection %q uses it.", model.Name)
	})
	if err != nil {
		return struct{}{}, err
	}
	return op.Remove(ctx, tx, s, tx.Secret.DeleteOne(s).Exec)
}

// seal encrypts a value for one version of one row of the caller's company.
func seal(tx *op.Tx, v Value, rowID string, version int) ([]byte, error) {
	sealed, err := tx.Sealer().Seal([]byte(v), BoundTo(tx.Principal().CompanyID, rowID, version))
	if err != nil {
		return nil, fmt.Errorf("seal the secret: %w", err)
	}
	return sealed, nil
}

// What a company has in secrets, all together, stays in memory while it is used, and is looked for in all that is masked.
const (
	maxSecrets = 1000
	maxBytes   = 4 << 20 // of sealed values
	maxAll     = 8 << 20 // of these and the earlier values
)

// room returns how many bytes of earlier values the company may keep in a row that it is about to write with a value of this size. Returns
// conflict if it has no room for the value.
func room(ctx context.Context, tx *op.Tx, rowID string, size int) (left int, err error) {
	var others []struct {
		Count   int `json:"count"`
		Bytes   int `json:"bytes"`
		Earlier int `json:"earlier"`
	}
	sum := func(column, as string) ent.AggregateFunc {
		return func(s *sql.Selector) string { return sql.As("COALESCE(SUM(LENGTH("+s.C(column)+")), 0)", as) }
	}
	err = tx.Secret.Query().Where(secret.IDNEQ(rowID)).Aggregate(ent.As(ent.Count(), "count"), sum(secret.FieldSealed, "bytes"), sum(secret.FieldPrevious, "earlier")).
		Scan(tx.Unfiltered(ctx, "all secrets count"), &others)
	switch {
	case err != nil:
		return 0, fmt.Errorf("measure the secrets: %w", err)
	case others[0].Count >= maxSecrets:
		return 0, apperr.New(apperr.Conflict, "A company has at most %d secrets.", maxSecrets)
	case others[0].Bytes+size > maxBytes:
		return 0, apperr.New(apperr.Conflict, "The secrets of a company have at most %d KiB together.", maxBytes>>10)
	}
	return maxAll - others[0].Bytes - others[0].Earlier - size, nil
}
