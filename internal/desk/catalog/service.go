package catalog

import (
	"context"
	"fmt"

	"atrium/ent"
	"atrium/ent/offering"
	"atrium/ent/organization"
	"atrium/ent/predicate"
	"atrium/ent/request"
	"atrium/ent/service"
	"atrium/ent/team"
	"atrium/internal/op"
	"atrium/internal/op/paging"
	"atrium/internal/platform/apperr"
)

// serviceSorts are the fields that the list of services can be ordered by.
var serviceSorts = op.Sorts{"createdAt": service.FieldCreatedAt, "updatedAt": service.FieldUpdatedAt, "name": op.Alphabetical(service.FieldName)}

// The operations on services.
var (
	ListServices = paging.NewList("service.list", op.Spec{
		Resource: "Service", Action: op.Read, Scope: "services:read", Sorts: serviceSorts,
		Summary: "List services",
	}, servicesOf)

	GetService = op.Get("service.read", op.Spec{
		Resource: "Service", Action: op.Read, Scope: "services:read",
		Summary: "Get a service",
	}, loadService)

	CreateService = op.New("service.create", op.Spec{
		Resource: "Service", Action: op.Create, Scope: "services:write",
		Summary: "Create a service",
	}, createService).WithCheck(func(ctx context.Context, tx *op.Tx, in CreateServiceInput) error {
		return ownersExist(ctx, tx, in.OwnerTeamID, in.OrganizationID)
	})

	UpdateService = op.OnRow("service.update", op.Spec{
		Resource: "Service", Action: op.Update, Scope: "services:write",
		Summary: "Update a service",
	}, loadService, updateService).WithCheck(func(ctx context.Context, tx *op.Tx, in UpdateServiceInput) error {
		return ownersExist(ctx, tx, in.OwnerTeamID.Value(), in.OrganizationID.Value())
	})

	DeleteService = op.OnRow("service.delete", op.Spec{
		Resource: "Service", Action: op.Delete, Scope: "services:write",
		Summary: "Delete a service that has no requests, with its offerings",
	}, loadService, deleteService)
)

// ListServicesInput filters and pages the list of services.
type ListServicesInput struct {
	paging.Page
	Status []string            `json:"-" query:"status" enum:"draft,active,archived" doc:"Services in any of these states."`
	Q      string              `json:"-" query:"q" maxLength:"200" doc:"Services whose name or description has these words, or parts of them."`
	Tags   map[string][]string `json:"-" query:"tag.*" doc:"Services whose tag has any of these values."`
}

func servicesOf(_ context.Context, tx *op.Tx, in ListServicesInput) *ent.ServiceQuery {
	where := paging.Words(paging.In(nil, in.Status, service.StatusIn), in.Q, service.FieldName, service.FieldDescription)
	for key, values := range in.Tags {
		where = append(where, paging.TagIn[predicate.Service](service.FieldTags, key, values))
	}
	return tx.Service.Query().Where(where...)
}

func loadService(ctx context.Context, tx *op.Tx, id string) (*ent.Service, error) {
	return op.Lock(tx, tx.Service.Query().Where(service.ID(id))).Only(ctx)
}

// CreateServiceInput describes a new service.
type CreateServiceInput struct {
	Name           string            `json:"name" minLength:"1" maxLength:"200" pattern:"\\S" patternDescription:"more than blanks"`
	Slug           *string           `json:"slug,omitempty" nullable:"true" pattern:"^[a-z0-9-]{1,63}$" doc:"Made from the name when not given; unique in the company."`
	Description    *string           `json:"description,omitempty" nullable:"true" maxLength:"10000"`
	Status         *string           `json:"status,omitempty" nullable:"true" enum:"draft,active,archived" doc:"Starts active."`
	OwnerTeamID    *string           `json:"ownerTeamId,omitempty" nullable:"true" maxLength:"64"`
	OrganizationID *string           `json:"organizationId,omitempty" nullable:"true" maxLength:"64"`
	Tags           map[string]string `json:"tags,omitempty" nullable:"true"`
}

func createService(ctx context.Context, tx *op.Tx, in CreateServiceInput) (*ent.Service, error) {
	if err := ownersExist(ctx, tx, in.OwnerTeamID, in.OrganizationID); err != nil {
		return nil, err
	}
	s, err := tx.Service.Create().
		SetName(in.Name).
		SetSlug(tx.SlugOf(in.Slug, in.Name, "service")).
		SetDescription(op.Or(in.Description, "")).
		SetStatus(service.Status(op.Or(in.Status, "active"))).
		SetNillableOwnerTeamID(in.OwnerTeamID).
		SetNillableOrganizationID(in.OrganizationID).
		SetTags(in.Tags).
		Save(ctx)
	if err != nil {
		return nil, fmt.Errorf("create the service: %w", err)
	}
	tx.Changed(nil, s)
	return s, nil
}

// UpdateServiceInput changes the fields that it names.
type UpdateServiceInput struct {
	op.ByID
	Name           op.Patch[string]            `json:"name,omitzero" minLength:"1" maxLength:"200" pattern:"\\S" patternDescription:"more than blanks"`
	Slug           op.Patch[string]            `json:"slug,omitzero" pattern:"^[a-z0-9-]{1,63}$"`
	Description    op.Patch[string]            `json:"description,omitzero" nullable:"true" maxLength:"10000"`
	Status         op.Patch[string]            `json:"status,omitzero" enum:"draft,active,archived"`
	OwnerTeamID    op.Patch[string]            `json:"ownerTeamId,omitzero" nullable:"true" maxLength:"64"`
	OrganizationID op.Patch[string]            `json:"organizationId,omitzero" nullable:"true" maxLength:"64"`
	Tags           op.Patch[map[string]string] `json:"tags,omitzero" nullable:"true" doc:"Replaces all tags."`
}

func updateService(ctx context.Context, tx *op.Tx, before *ent.Service, in UpdateServiceInput) (*ent.Service, error) {
	if err := ownersExist(ctx, tx, in.OwnerTeamID.Value(), in.OrganizationID.Value()); err != nil {
		return nil, err
	}
	u := before.Update()
	op.Set(in.Name, u.SetName)
	op.Set(in.Slug, u.SetSlug)
	op.SetOrClear(in.Description, u.SetDescription, func() *ent.ServiceUpdateOne { return u.SetDescription("") })
	if status, ok := op.Given(in.Status); ok {
		u.SetStatus(service.Status(status))
	}
	op.SetOrClear(in.OwnerTeamID, u.SetOwnerTeamID, u.ClearOwnerTeamID)
	op.SetOrClear(in.OrganizationID, u.SetOrganizationID, u.ClearOrganizationID)
	op.SetOrClear(in.Tags, u.SetTags, u.ClearTags)
	after, err := op.Save(ctx, tx, before, u)
	if err != nil {
		return nil, fmt.Errorf("update the service: %w", err)
	}
	return after, nil
}

func deleteService(ctx context.Context, tx *op.Tx, s *ent.Service, _ op.ByID) (struct{}, error) {
	used, err := tx.Request.Query().Where(request.ServiceID(s.ID)).
		Exist(tx.Unfiltered(ctx, "requests that the caller does not see keep a service in use, too"))
	if err != nil {
		return struct{}{}, fmt.Errorf("look for the service's requests: %w", err)
	}
	if used {
		return struct{}{}, apperr.New(apperr.Conflict, "The service has requests. Archive it instead.")
	}
	if err := uncalled(ctx, tx, offering.ServiceID(s.ID)); err != nil {
		return struct{}{}, err
	}
	if err := unscheduled(ctx, tx, offering.ServiceID(s.ID)); err != nil {
		return struct{}{}, err
	}
	if err := deleteOfferingsOf(ctx, tx, s.ID); err != nil {
		return struct{}{}, err
	}
	return op.Remove(ctx, tx, s, tx.Service.DeleteOne(s).Exec)
}

// ownersExist returns a validation error that names ids which are no team or organization of the
// company.
func ownersExist(ctx context.Context, tx *op.Tx, teamID, organizationID *string) error {
	var refs op.Refs
	refs.Check("ownerTeamId", teamID, "team", op.FindShared(ctx, tx, func(id string) *ent.TeamQuery { return tx.Team.Query().Where(team.ID(id)) }))
	refs.Check("organizationId", organizationID, "organization", op.FindShared(ctx, tx, func(id string) *ent.OrganizationQuery {
		return tx.Organization.Query().Where(organization.ID(id))
	}))
	return refs.Err()
}
