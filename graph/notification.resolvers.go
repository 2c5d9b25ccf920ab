package graph

import (
	"context"

	"atrium/ent"
	"atrium/graph/generated"
	"atrium/graph/internal/relay"
	"atrium/graph/internal/resolve"
	"atrium/graph/internal/view"
	"atrium/internal/notify/feed"
	"atrium/internal/notify/notice"
	"atrium/internal/op/paging"
	"atrium/internal/platform/principal"
)

func (r *queryResolver) Notifications(ctx context.Context, unread *bool, first *int, after *string, orderBy *relay.Order) (*relay.Connection[ent.Notification], error) {
	return resolve.List(ctx, r.Engine, notice.List, &notice.ListInput{Unread: unread}, first, after, orderBy)
}

func (r *mutationResolver) MarkNotificationsRead(ctx context.Context, input notice.MarkReadInput) (*notice.Marked, error) {
	return resolve.Change(ctx, r.Engine, notice.MarkRead, input, "")
}

func (r *subscriptionResolver) NotificationAdded(ctx context.Context) (<-chan *ent.Notification, error) {
	p, ok := principal.From(ctx)
	if !ok {
		p = &principal.Principal{}
	}
	in := paging.ByIDs{}
	return watch(ctx, watched{feed.Notifications, feed.Filter{ParentID: p.ID}}, func(ctx context.Context, ids, _ []string) (map[string]*ent.Notification, error) {
		in.IDs = ids
		return resolve.Run(ctx, r.Engine, notice.LookUp, in)
	}, func(_ generated.ChangeKind, n *ent.Notification) *ent.Notification { return n })
}

func (r *mutationResolver) UpdateNotificationSettings(ctx context.Context, input notice.Setting) (*notice.Setting, error) {
	return resolve.Change(ctx, r.Engine, notice.UpdateSettings, input, "")
}

func (r *viewerResolver) NotificationSettings(ctx context.Context, _ *view.Viewer) ([]*notice.Setting, error) {
	return resolve.Run(ctx, r.Engine, notice.GetSettings, struct{}{})
}
