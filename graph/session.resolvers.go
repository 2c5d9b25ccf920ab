package graph

import (
	"context"

	"atrium/ent"
	"atrium/graph/internal/relay"
	"atrium/graph/internal/resolve"
	"atrium/internal/identity/websession"
	"atrium/internal/op"
	"atrium/internal/platform/principal"
)

func (r *queryResolver) Sessions(ctx context.Context, userID *string, first *int, after *string, orderBy *relay.Order) (*relay.Connection[ent.Session], error) {
	return resolve.List(ctx, r.Engine, websession.List, &websession.ListInput{UserID: op.Or(userID, "")}, first, after, orderBy)
}

func (r *mutationResolver) SwitchSession(ctx context.Context, input websession.SwitchInput) (*websession.Switched, error) {
	s, err := resolve.Change(ctx, r.Engine, websession.Switch, input, "")
	return &s, err
}

func (r *sessionResolver) Current(ctx context.Context, s *ent.Session) (bool, error) {
	p, ok := principal.From(ctx)
	return ok && p.SessionID == s.ID, nil
}
