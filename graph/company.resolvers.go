package graph

import (
	"context"
	"sync"

	"atrium/ent"
	"atrium/graph/generated"
	"atrium/graph/internal/resolve"
	"atrium/graph/internal/view"
	"atrium/internal/op"
	"atrium/internal/people"
	"atrium/internal/people/company"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
)

func (r *queryResolver) Viewer(ctx context.Context) (*view.Viewer, error) {
	p, ok := principal.From(ctx)
	if !ok {
		return nil, apperr.Unauthenticated(nil)
	}
	return viewerOf(ctx, r.Engine, p), nil
}

// viewerOf returns the view of a caller.
func viewerOf(ctx context.Context, e *op.Engine, p *principal.Principal) *view.Viewer {
	v := view.NewViewer(p)
	v.Own = sync.OnceValues(func() (*ent.User, error) { return resolve.Run(ctx, e, people.GetViewer, struct{}{}) })
	return v
}

func (r *mutationResolver) UpdateViewer(ctx context.Context, input people.UpdateViewerInput) (*generated.UpdateViewerPayload, error) {
	p, ok := principal.From(ctx)
	if !ok {
		return nil, apperr.Unauthenticated(nil)
	}
	_, err := resolve.Change(ctx, r.Engine, people.UpdateViewer, input, "")
	return &generated.UpdateViewerPayload{Viewer: viewerOf(ctx, r.Engine, p)}, err
}

func (r *viewerResolver) Locale(_ context.Context, v *view.Viewer) (*string, error) {
	u, err := v.Own()
	if err != nil || u == nil {
		return nil, err
	}
	return u.Locale, nil
}

func (r *viewerResolver) TimeZone(_ context.Context, v *view.Viewer) (*string, error) {
	u, err := v.Own()
	if err != nil || u == nil {
		return nil, err
	}
	return u.TimeZone, nil
}

func (r *mutationResolver) UpdateCompany(ctx context.Context, input company.UpdateInput) (*generated.UpdateCompanyPayload, error) {
	c, err := resolve.Change(ctx, r.Engine, company.Update, input, "")
	return &generated.UpdateCompanyPayload{Company: view.NewCompany(c)}, err
}

func (r *viewerResolver) Company(ctx context.Context, _ *view.Viewer) (*view.Company, error) {
	return ownCompany(ctx, r.Engine)
}

func (r *viewerResolver) Permissions(ctx context.Context, _ *view.Viewer) ([]string, error) {
	return op.Permissions(ctx, r.Engine)
}

func (r *companyResolver) Etag(_ context.Context, c *view.Company) (string, error) {
	return resolve.ETag(c.Company, nil), nil
}

// ownCompany returns the caller's company.
func ownCompany(ctx context.Context, e *op.Engine) (*view.Company, error) {
	c, err := resolve.Run(ctx, e, company.Get, company.GetInput{})
	return view.NewCompany(c), err
}
