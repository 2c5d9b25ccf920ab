package people

import (
	"context"
	"fmt"

	"atrium/ent"
	"atrium/ent/apikey"
	"atrium/ent/serviceaccount"
	"atrium/ent/user"
	"atrium/internal/op"
	"atrium/internal/op/paging"
)

var serviceAccountSorts = op.Sorts{
	"createdAt": serviceaccount.FieldCreatedAt, "updatedAt": serviceaccount.FieldUpdatedAt, "name": op.Alphabetical(serviceaccount.FieldName),
}

// The operations on service accounts: callers that are not people, whose API keys package apikey issues. They require a
// signed-in person.
var (
	ListServiceAccounts = paging.NewList("serviceaccount.list", op.Spec{
		Resource: "ServiceAccount", Action: op.Read, AdminLayer: true, Sorts: serviceAccountSorts, Summary: "List service accounts",
	}, func(_ context.Context, tx *op.Tx, _ ListServiceAccountsInput) *ent.ServiceAccountQuery {
		return tx.ServiceAccount.Query()
	})

	GetServiceAccount = op.Get("serviceaccount.read", op.Spec{
		Resource: "ServiceAccount", Action: op.Read, AdminLayer: true, Summary: "Get a service account",
	}, loadServiceAccount)

	CreateServiceAccount = op.New("serviceaccount.create", op.Spec{
		Resource: "ServiceAccount", Action: op.Create, AdminLayer: true, LiveOnly: true, Summary: "Create a service account",
	}, createServiceAccount).WithVerbs(func(in CreateServiceAccountInput) []string { return roleVerbs("serviceaccount.create", in.Role) })

	UpdateServiceAccount = op.OnRow("serviceaccount.update", op.Spec{
		Resource: "ServiceAccount", Action: op.Update, AdminLayer: true, LiveOnly: true, Summary: "Update a service account",
	}, loadServiceAccount, updateServiceAccount).WithRowVerbs(accountVerbs)

	DeleteServiceAccount = op.OnRow("serviceaccount.delete", op.Spec{
		Resource: "ServiceAccount", Action: op.Delete, AdminLayer: true, LiveOnly: true, Summary: "Delete a service account with its API keys",
	}, loadServiceAccount, deleteServiceAccount).WithRowVerbs(func(row any, _ op.ByID) []string { return ofRow(row) })

	// LookUpServiceAccounts serves edges that lead to a caller: a caller who may read users may read service accounts there.
	LookUpServiceAccounts = paging.NewLookUp("serviceaccount.lookup", op.Spec{
		Resource: "ServiceAccount", Action: op.Read, Scope: "users:read", Summary: "Look service accounts up by their ids",
	}, func(tx *op.Tx) *ent.ServiceAccountQuery { return tx.ServiceAccount.Query() }).
		WithVerbs(func(paging.ByIDs) []string { return []string{"serviceaccount.lookup"} })
)

// ListServiceAccountsInput pages the list of service accounts.
type ListServiceAccountsInput struct{ paging.Page }

func loadServiceAccount(ctx context.Context, tx *op.Tx, id string) (*ent.ServiceAccount, error) {
	return op.Lock(tx, tx.ServiceAccount.Query().Where(serviceaccount.ID(id))).Only(ctx)
}

// CreateServiceAccountInput describes a new service account.
type CreateServiceAccountInput struct {
	Name string  `json:"name" minLength:"1" maxLength:"200" pattern:"\\S" patternDescription:"more than blanks"`
	Role *string `json:"role,omitempty" nullable:"true" enum:"owner,admin,agent,member" doc:"What its keys may do at most; member when not given. Only owners make owners."`
}

// createServiceAccount serves the live company: in its sandbox the accounts of test keys are created automatically.
func createServiceAccount(ctx context.Context, tx *op.Tx, in CreateServiceAccountInput) (*ent.ServiceAccount, error) {
	a, err := tx.ServiceAccount.Create().SetName(in.Name).
		SetRole(serviceaccount.Role(op.Or(in.Role, string(serviceaccount.RoleMember)))).Save(ctx)
	if err != nil {
		return nil, fmt.Errorf("create the service account: %w", err)
	}
	tx.Changed(nil, a)
	return a, nil
}

// UpdateServiceAccountInput changes the fields that it names.
type UpdateServiceAccountInput struct {
	op.ByID
	Name    op.Patch[string] `json:"name,omitzero" minLength:"1" maxLength:"200" pattern:"\\S" patternDescription:"more than blanks"`
	Role    op.Patch[string] `json:"role,omitzero" enum:"owner,admin,agent,member" doc:"What its keys may do at most. Only owners give and take owner."`
	Enabled op.Patch[bool]   `json:"enabled,omitzero" doc:"False refuses its keys until it is true again."`
}

// accountVerbs returns the rights to the row's role, if the input changes the role or whether the account is enabled, and
// the rights to the role that the input gives.
func accountVerbs(row any, in UpdateServiceAccountInput) []string {
	a, ok := row.(*ent.ServiceAccount)
	if !ok {
		return nil
	}
	role, gives := op.Given(in.Role)
	if gives = gives && serviceaccount.Role(role) != a.Role; !gives && !in.Enabled.IsSet() {
		return nil
	}
	verbs := ofRow(row)
	if gives {
		verbs = append(verbs, ofRole(user.Role(role))...)
	}
	return verbs
}

// updateServiceAccount changes what the account's keys may do at once.
func updateServiceAccount(ctx context.Context, tx *op.Tx, before *ent.ServiceAccount, in UpdateServiceAccountInput) (*ent.ServiceAccount, error) {
	u := before.Update()
	op.Set(in.Name, u.SetName)
	op.Set(in.Enabled, u.SetEnabled)
	if role, ok := op.Given(in.Role); ok {
		u.SetRole(serviceaccount.Role(role))
	}
	after, err := op.Save(ctx, tx, before, u)
	if err != nil {
		return nil, fmt.Errorf("update the service account: %w", err)
	}
	tx.AuthorityChanged()
	return after, nil
}

// deleteServiceAccount also deletes the account's API keys and its mirror in the sandbox. What it filed stays and keeps its
// id.
func deleteServiceAccount(ctx context.Context, tx *op.Tx, a *ent.ServiceAccount, _ op.ByID) (struct{}, error) {
	keys, err := tx.APIKey.Delete().Where(apikey.ServiceAccountID(a.ID)).Exec(tx.Unfiltered(ctx, "a key ends with whom it acts as, seen or not"))
	if err != nil {
		return struct{}{}, fmt.Errorf("delete the account's keys: %w", err)
	}
	err = tx.AsSystem(ctx, "the counterpart in the sandbox belongs to another company", func(ctx context.Context) error {
		_, err := tx.ServiceAccount.Delete().Where(serviceaccount.LiveAccountID(a.ID)).Exec(ctx)
		return err
	})
	if err != nil {
		return struct{}{}, fmt.Errorf("delete the account in the sandbox: %w", err)
	}
	if err := tx.ServiceAccount.DeleteOne(a).Exec(ctx); err != nil {
		return struct{}{}, fmt.Errorf("delete the service account: %w", err)
	}
	tx.AuthorityChanged()
	tx.Changed(a, nil)
	tx.ChangedField("apiKeys", keys, 0)
	return struct{}{}, nil
}
