package graph

import (
	"context"

	"atrium/graph/generated"
	"atrium/graph/internal/resolve"
	"atrium/internal/desk/pack"
	"atrium/internal/op"
)

func (r *queryResolver) Packs(ctx context.Context, language *string) ([]*pack.Pack, error) {
	list, err := resolve.Run(ctx, r.Engine, pack.List, pack.ListInput{Language: op.Or(language, "")})
	return list.Rows, err
}

func (r *queryResolver) PlanPack(ctx context.Context, key, source, language *string) (*pack.Plan, error) {
	return resolve.Run(ctx, r.Engine, pack.PlanOf, pack.Input{Pack: key, Source: source, Language: language})
}

func (r *queryResolver) ServiceTemplate(ctx context.Context, id string) (string, error) {
	written, err := resolve.Run(ctx, r.Engine, pack.Template, op.ByID{ID: id})
	if err != nil {
		return "", err
	}
	return written.Source, nil
}

func (r *mutationResolver) InstallPack(ctx context.Context, input pack.Input) (*generated.InstallPackPayload, error) {
	plan, err := resolve.Change(ctx, r.Engine, pack.Install, input, "")
	if err != nil {
		return nil, err
	}
	return &generated.InstallPackPayload{Plan: plan}, nil
}
