package graph

import (
	"context"

	"atrium/ent"
	"atrium/graph/generated"
	"atrium/graph/internal/relay"
	"atrium/internal/catalog"
	"atrium/internal/people"
	"atrium/internal/workflow"
)

func (r *queryResolver) Service(ctx context.Context, id string) (*ent.Service, error) {
	return read(ctx, r.engine, catalog.GetService, id)
}

func (r *queryResolver) Services(ctx context.Context, first *int, after *string, filter *catalog.ListServicesInput, orderBy *relay.Order) (*relay.Connection[ent.Service], error) {
	return list(ctx, r.engine, catalog.ListServices, filter, first, after, orderBy)
}

func (r *queryResolver) Offering(ctx context.Context, id string) (*ent.Offering, error) {
	return read(ctx, r.engine, catalog.GetOffering, id)
}

func (r *mutationResolver) CreateService(ctx context.Context, input map[string]any) (*generated.CreateServicePayload, error) {
	s, err := change(ctx, r.engine, catalog.CreateService, input, none)
	return &generated.CreateServicePayload{Service: s}, err
}

func (r *mutationResolver) UpdateService(ctx context.Context, input map[string]any) (*generated.UpdateServicePayload, error) {
	s, err := change(ctx, r.engine, catalog.UpdateService, input, id)
	return &generated.UpdateServicePayload{Service: s}, err
}

func (r *mutationResolver) DeleteService(ctx context.Context, input map[string]any) (*generated.DeleteServicePayload, error) {
	_, err := change(ctx, r.engine, catalog.DeleteService, input, id)
	return &generated.DeleteServicePayload{ID: idOf(input)}, err
}

func (r *mutationResolver) CreateOffering(ctx context.Context, input map[string]any) (*generated.CreateOfferingPayload, error) {
	o, err := change(ctx, r.engine, catalog.CreateOffering, input, "serviceId")
	return &generated.CreateOfferingPayload{Offering: o}, err
}

func (r *mutationResolver) UpdateOffering(ctx context.Context, input map[string]any) (*generated.UpdateOfferingPayload, error) {
	o, err := change(ctx, r.engine, catalog.UpdateOffering, input, id)
	return &generated.UpdateOfferingPayload{Offering: o}, err
}

func (r *mutationResolver) DeleteOffering(ctx context.Context, input map[string]any) (*generated.DeleteOfferingPayload, error) {
	_, err := change(ctx, r.engine, catalog.DeleteOffering, input, id)
	return &generated.DeleteOfferingPayload{ID: idOf(input)}, err
}

// Service returns the resolver of a service's fields that are no columns.
func (r *Resolver) Service() generated.ServiceResolver { return &serviceResolver{r} }

type serviceResolver struct{ *Resolver }

func (r *serviceResolver) Description(_ context.Context, s *ent.Service) (*string, error) {
	return textOrNil(s.Description), nil
}

func (r *serviceResolver) Tags(_ context.Context, s *ent.Service) (map[string]string, error) {
	return textsOf(s.Tags), nil
}

func (r *serviceResolver) OwnerTeam(ctx context.Context, s *ent.Service) (*ent.Team, error) {
	return follow(ctx, r.engine, s, func(s *ent.Service) *string { return s.OwnerTeamID }, people.LookUpTeams)
}

func (r *serviceResolver) Organization(ctx context.Context, s *ent.Service) (*ent.Organization, error) {
	return follow(ctx, r.engine, s, func(s *ent.Service) *string { return s.OrganizationID }, people.LookUpOrganizations)
}

func (r *serviceResolver) Offerings(ctx context.Context, s *ent.Service, first *int, after *string) (*relay.Connection[ent.Offering], error) {
	return branch(ctx, r.engine, s, func(s *ent.Service) string { return s.ID }, catalog.OfferingsOf, first, after, same[ent.Offering])
}

// Offering returns the resolver of an offering's fields that are no columns.
func (r *Resolver) Offering() generated.OfferingResolver { return &offeringResolver{r} }

type offeringResolver struct{ *Resolver }

func (r *offeringResolver) Description(_ context.Context, o *ent.Offering) (*string, error) {
	return textOrNil(o.Description), nil
}

func (r *offeringResolver) Tags(_ context.Context, o *ent.Offering) (map[string]string, error) {
	return textsOf(o.Tags), nil
}

func (r *offeringResolver) SLA(_ context.Context, o *ent.Offering) (*ent.Offering, error) {
	if o.ResponseMinutes == nil && o.ResolutionMinutes == nil && o.WarnAtPercent == nil && o.CalendarID == nil {
		return nil, nil //nolint:nilnil // null
	}
	return o, nil
}

func (r *offeringResolver) Service(ctx context.Context, o *ent.Offering) (*ent.Service, error) {
	return follow(ctx, r.engine, o, func(o *ent.Offering) *string { return &o.ServiceID }, catalog.LookUpServices)
}

func (r *offeringResolver) Workflow(ctx context.Context, o *ent.Offering) (*ent.Workflow, error) {
	return follow(ctx, r.engine, o, func(o *ent.Offering) *string { return o.WorkflowID }, workflow.LookUpWorkflows)
}
