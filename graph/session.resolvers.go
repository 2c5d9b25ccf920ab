package graph

import (
	"context"

	"atrium/ent"
	"atrium/graph/generated"
	"atrium/graph/internal/relay"
	"atrium/internal/op"
	"atrium/internal/principal"
	"atrium/internal/websession"
)

func (r *queryResolver) Sessions(ctx context.Context, userID *string, first *int, after *string, orderBy *relay.Order) (*relay.Connection[ent.Session], error) {
	return list(ctx, r.engine, websession.List, &websession.ListInput{UserID: op.Or(userID, "")}, first, after, orderBy)
}

func (r *mutationResolver) EndSession(ctx context.Context, input map[string]any) (*generated.EndSessionPayload, error) {
	s, err := change(ctx, r.engine, websession.End, input, id)
	return &generated.EndSessionPayload{Session: s}, err
}

func (r *mutationResolver) EndAllSessions(ctx context.Context, input map[string]any) (*generated.EndAllSessionsPayload, error) {
	u, err := change(ctx, r.engine, websession.EndAll, input, none)
	return &generated.EndAllSessionsPayload{User: u}, err
}

func (r *mutationResolver) SwitchSession(ctx context.Context, input map[string]any) (*websession.Switched, error) {
	s, err := change(ctx, r.engine, websession.Switch, input, none)
	return &s, err
}

// Session returns the resolver of a session's fields that are no columns.
func (r *Resolver) Session() generated.SessionResolver { return &sessionResolver{r} }

type sessionResolver struct{ *Resolver }

func (r *sessionResolver) Current(ctx context.Context, s *ent.Session) (bool, error) {
	p, ok := principal.From(ctx)
	return ok && p.SessionID == s.ID, nil
}

func (r *sessionResolver) IP(_ context.Context, s *ent.Session) (*string, error) {
	return textOrNil(s.IP), nil
}

func (r *sessionResolver) UserAgent(_ context.Context, s *ent.Session) (*string, error) {
	return textOrNil(s.UserAgent), nil
}
