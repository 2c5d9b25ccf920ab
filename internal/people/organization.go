package people

import (
	"context"
	"fmt"

	"atrium/ent"
	"atrium/ent/organization"
	"atrium/ent/predicate"
	"atrium/ent/service"
	"atrium/ent/team"
	"atrium/internal/op"
	"atrium/internal/op/paging"
	"atrium/internal/platform/apperr"
)

var organizationSorts = op.Sorts{
	"createdAt": organization.FieldCreatedAt, "updatedAt": organization.FieldUpdatedAt, "name": op.Alphabetical(organization.FieldName),
}

// The operations on organizations, which form trees.
var (
	ListOrganizations = paging.NewList("organization.list", op.Spec{
		Resource: "Organization", Action: op.Read, Scope: "organizations:read", Sorts: organizationSorts,
		Summary: "List organizations",
	}, func(_ context.Context, tx *op.Tx, in ListOrganizationsInput) *ent.OrganizationQuery {
		return tx.Organization.Query().Where(paging.Words[predicate.Organization](nil, in.Q, organization.FieldName)...)
	})

	GetOrganization = op.Get("organization.read", op.Spec{
		Resource: "Organization", Action: op.Read, Scope: "organizations:read",
		Summary: "Get an organization",
	}, loadOrganization)

	CreateOrganization = op.New("organization.create", op.Spec{
		Resource: "Organization", Action: op.Create, Scope: "organizations:write",
		Summary: "Create an organization",
	}, createOrganization).WithCheck(func(ctx context.Context, tx *op.Tx, in CreateOrganizationInput) error {
		return parentExists(ctx, tx, in.ParentID)
	})

	UpdateOrganization = op.OnRow("organization.update", op.Spec{
		Resource: "Organization", Action: op.Update, Scope: "organizations:write",
		Summary: "Update an organization",
	}, loadOrganizationToChange, updateOrganization).WithCheck(func(ctx context.Context, tx *op.Tx, in UpdateOrganizationInput) error {
		return parentExists(ctx, tx, in.ParentID.Value())
	})

	DeleteOrganization = op.OnRow("organization.delete", op.Spec{
		Resource: "Organization", Action: op.Delete, Scope: "organizations:write",
		Summary: "Delete an organization that has no children, teams or services",
	}, loadOrganizationToChange, deleteOrganization)
)

// ListOrganizationsInput filters and pages the list of organizations.
type ListOrganizationsInput struct {
	paging.Page
	Q string `json:"-" query:"q" maxLength:"200" doc:"Organizations whose name has these words, or parts of them."`
}

func loadOrganization(ctx context.Context, tx *op.Tx, id string) (*ent.Organization, error) {
	return tx.Organization.Query().Where(organization.ID(id)).Only(ctx)
}

// loadOrganizationToChange locks the company's oldest organization before it loads the named one. All changes of the
// trees wait there for each other. So two moves that are valid alone cannot form a cycle together, and no two changes
// deadlock.
func loadOrganizationToChange(ctx context.Context, tx *op.Tx, id string) (*ent.Organization, error) {
	all := tx.Unfiltered(ctx, "all changes of the trees queue at one row, seen or not")
	if _, err := op.Lock(tx, tx.Organization.Query().Order(organization.ByID()).Limit(1)).IDs(all); err != nil {
		return nil, fmt.Errorf("lock the organizations: %w", err)
	}
	return op.Lock(tx, tx.Organization.Query().Where(organization.ID(id))).Only(ctx)
}

// CreateOrganizationInput describes a new organization.
type CreateOrganizationInput struct {
	Name     string            `json:"name" minLength:"1" maxLength:"200" pattern:"\\S" patternDescription:"more than blanks"`
	Slug     *string           `json:"slug,omitempty" nullable:"true" pattern:"^[a-z0-9-]{1,63}$" doc:"Made from the name when not given; unique in the company."`
	ParentID *string           `json:"parentId,omitempty" nullable:"true" maxLength:"64" doc:"The organization that this one is part of."`
	Tags     map[string]string `json:"tags,omitempty" nullable:"true"`
}

func createOrganization(ctx context.Context, tx *op.Tx, in CreateOrganizationInput) (*ent.Organization, error) {
	if err := parentExists(ctx, tx, in.ParentID); err != nil {
		return nil, err
	}
	o, err := tx.Organization.Create().
		SetName(in.Name).
		SetSlug(tx.SlugOf(in.Slug, in.Name, "organization")).
		SetNillableParentID(in.ParentID).
		SetTags(in.Tags).
		Save(ctx)
	if err != nil {
		return nil, fmt.Errorf("create the organization: %w", err)
	}
	tx.Changed(nil, o)
	return o, nil
}

// UpdateOrganizationInput changes the fields that it names.
type UpdateOrganizationInput struct {
	op.ByID
	Name     op.Patch[string]            `json:"name,omitzero" minLength:"1" maxLength:"200" pattern:"\\S" patternDescription:"more than blanks"`
	Slug     op.Patch[string]            `json:"slug,omitzero" pattern:"^[a-z0-9-]{1,63}$"`
	ParentID op.Patch[string]            `json:"parentId,omitzero" nullable:"true" maxLength:"64" doc:"Not the organization itself, nor one below it."`
	Tags     op.Patch[map[string]string] `json:"tags,omitzero" nullable:"true" doc:"Replaces all tags."`
}

func updateOrganization(ctx context.Context, tx *op.Tx, before *ent.Organization, in UpdateOrganizationInput) (*ent.Organization, error) {
	if parent := in.ParentID.Value(); parent != nil {
		if err := parentExists(ctx, tx, parent); err != nil {
			return nil, err
		}
		if err := staysTree(ctx, tx, before.ID, *parent); err != nil {
			return nil, err
		}
	}
	u := before.Update()
	op.Set(in.Name, u.SetName)
	op.Set(in.Slug, u.SetSlug)
	op.SetOrClear(in.ParentID, u.SetParentID, u.ClearParentID)
	op.SetOrClear(in.Tags, u.SetTags, u.ClearTags)
	after, err := op.Save(ctx, tx, before, u)
	if err != nil {
		return nil, fmt.Errorf("update the organization: %w", err)
	}
	return after, nil
}

// staysTree refuses a parent that is the organization itself or one of its descendants. It reads the company's whole
// tree in one statement, however deep it is; the caller holds the trees' lock.
func staysTree(ctx context.Context, tx *op.Tx, id, parentID string) error {
	all := tx.Unfiltered(ctx, "a circle may run through organizations that the caller does not see")
	rows, err := tx.Organization.Query().Select(organization.FieldID, organization.FieldParentID).All(all)
	if err != nil {
		return fmt.Errorf("read the organizations' tree: %w", err)
	}
	parents := make(map[string]string, len(rows))
	for _, o := range rows {
		if o.ParentID != nil {
			parents[o.ID] = *o.ParentID
		}
	}
	for at, left := parentID, len(rows); at != "" && left >= 0; at, left = parents[at], left-1 {
		if at == id {
			return apperr.InvalidField("parentId", "must not be the organization itself or one below it")
		}
	}
	return nil
}

func deleteOrganization(ctx context.Context, tx *op.Tx, o *ent.Organization, _ op.ByID) (struct{}, error) {
	for _, of := range []struct {
		what  string
		exist func(context.Context) (bool, error)
	}{
		{"organizations below it", tx.Organization.Query().Where(organization.ParentID(o.ID)).Exist},
		{"teams", tx.Team.Query().Where(team.OrganizationID(o.ID)).Exist},
		{"services", tx.Service.Query().Where(service.OrganizationID(o.ID)).Exist},
	} {
		used, err := of.exist(tx.Unfiltered(ctx, "what the caller does not see keeps an organization in use, too"))
		if err != nil {
			return struct{}{}, fmt.Errorf("look for the organization's %s: %w", of.what, err)
		}
		if used {
			return struct{}{}, apperr.New(apperr.Conflict, "The organization has %s. Move them first.", of.what)
		}
	}
	return op.Remove(ctx, tx, o, tx.Organization.DeleteOne(o).Exec)
}

// parentExists refuses a parent that is no organization of the company.
func parentExists(ctx context.Context, tx *op.Tx, parentID *string) error {
	var refs op.Refs
	refs.Check("parentId", parentID, "organization", op.FindShared(ctx, tx, func(id string) *ent.OrganizationQuery {
		return tx.Organization.Query().Where(organization.ID(id))
	}))
	return refs.Err()
}
