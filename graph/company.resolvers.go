package graph

import (
	"context"

	"atrium/graph/generated"
	"atrium/graph/internal/view"
	"atrium/internal/op"
	"atrium/internal/people/company"
)

func (r *queryResolver) Viewer(ctx context.Context) (*view.Viewer, error) {
	return viewer(ctx)
}

func (r *mutationResolver) UpdateCompany(ctx context.Context, input company.UpdateInput) (*generated.UpdateCompanyPayload, error) {
	c, err := change(ctx, r.engine, company.Update, input, "")
	return &generated.UpdateCompanyPayload{Company: view.NewCompany(c)}, err
}

func (r *viewerResolver) Company(ctx context.Context, _ *view.Viewer) (*view.Company, error) {
	return r.company(ctx)
}

func (r *viewerResolver) Permissions(ctx context.Context, _ *view.Viewer) ([]string, error) {
	return op.Permissions(ctx, r.engine)
}

func (r *companyResolver) Etag(_ context.Context, c *view.Company) (string, error) {
	return etagOf(c.Company, nil), nil
}

// company returns the caller's company.
func (r *Resolver) company(ctx context.Context) (*view.Company, error) {
	c, err := run(ctx, r.engine, company.Get, company.GetInput{})
	return view.NewCompany(c), err
}
