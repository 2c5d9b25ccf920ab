package people

import (
	"context"
	"fmt"

	"atrium/ent"
	"atrium/ent/serviceaccount"
	"atrium/internal/apperr"
	"atrium/internal/op"
	"atrium/internal/paging"
)

var serviceAccountSorts = op.Sorts{
	"createdAt": serviceaccount.FieldCreatedAt, "updatedAt": serviceaccount.FieldUpdatedAt, "name": serviceaccount.FieldName,
}

// The operations on service accounts: callers that are no person, whose API keys package apikey issues. They take a person.
var (
	ListServiceAccounts = paging.NewList("serviceaccount.list", op.Spec{
		Resource: "ServiceAccount", Action: op.Read, AdminLayer: true, Sorts: serviceAccountSorts, Summary: "List service accounts",
	}, func(_ context.Context, tx *op.Tx, _ ListServiceAccountsInput) *ent.ServiceAccountQuery {
		return tx.ServiceAccount.Query()
	})

	GetServiceAccount = op.Get("serviceaccount.read", op.Spec{
		Resource: "ServiceAccount", Action: op.Read, AdminLayer: true, Summary: "Get a service account",
	}, func(ctx context.Context, tx *op.Tx, id string) (*ent.ServiceAccount, error) {
		return tx.ServiceAccount.Query().Where(serviceaccount.ID(id)).Only(ctx)
	})

	CreateServiceAccount = op.New("serviceaccount.create", op.Spec{
		Resource: "ServiceAccount", Action: op.Create, AdminLayer: true, Summary: "Create a service account",
	}, createServiceAccount).WithVerbs(func(in CreateServiceAccountInput) []string { return roleVerbs("serviceaccount.create", in.Role) })
)

// ListServiceAccountsInput pages the list of service accounts.
type ListServiceAccountsInput struct{ paging.Page }

// CreateServiceAccountInput describes a new service account.
type CreateServiceAccountInput struct {
	Name string  `json:"name" minLength:"1" maxLength:"200" pattern:"\\S" patternDescription:"more than blanks"`
	Role *string `json:"role,omitempty" nullable:"true" enum:"owner,admin,agent,member" doc:"What its keys may do at most; member when not given. Only owners make owners."`
}

// createServiceAccount returns conflict in a sandbox, where the accounts of test keys are made by themselves.
func createServiceAccount(ctx context.Context, tx *op.Tx, in CreateServiceAccountInput) (*ent.ServiceAccount, error) {
	if tx.Principal().Sandbox {
		return nil, apperr.New(apperr.Conflict, "Service accounts are made in the live company.")
	}
	a, err := tx.ServiceAccount.Create().SetName(in.Name).
		SetRole(serviceaccount.Role(op.Or(in.Role, string(serviceaccount.RoleMember)))).Save(ctx)
	if err != nil {
		return nil, fmt.Errorf("create the service account: %w", err)
	}
	tx.Changed(nil, a)
	return a, nil
}
