package notice

import (
	"context"
	"fmt"
	"time"

	"atrium/ent"
	"atrium/ent/notification"
	"atrium/ent/request"
	"atrium/internal/op"
	"atrium/internal/op/paging"
	"atrium/internal/platform/id"
	"atrium/internal/platform/jobs"
)

// The operations on the caller's notifications.
var (
	List = op.New("notification.list", op.Spec{
		Resource: "Notification", Action: op.Read, Sorts: sorts, Summary: "List what one was told of",
	}, func(ctx context.Context, tx *op.Tx, in ListInput) (paging.List[*ent.Notification], error) {
		q := own(tx)
		switch {
		case in.Unread == nil:
		case *in.Unread:
			q.Where(notification.ReadAtIsNil())
		default:
			q.Where(notification.ReadAtNotNil())
		}
		return op.Bounded(ctx, tx, request.Table, func(ctx context.Context) (paging.List[*ent.Notification], error) {
			return paging.Of(ctx, in.Page, sorts, q)
		})
	})

	// LookUp reads notifications of the caller by their ids, for GraphQL subscriptions.
	LookUp = op.New("notification.lookup", op.Spec{
		Resource: "Notification", Action: op.Read, Summary: "Look notifications up by their ids",
	}, func(ctx context.Context, tx *op.Tx, in paging.ByIDs) (map[string]*ent.Notification, error) {
		return op.Bounded(ctx, tx, request.Table, func(ctx context.Context) (map[string]*ent.Notification, error) {
			return paging.LookUp(ctx, own(tx), in)
		})
	})

	MarkRead = op.New("notification.read_all", op.Spec{
		Resource: "Notification", Action: op.Update, Summary: "Mark notifications as read",
	}, markRead).WithVerbs(func(MarkReadInput) []string { return []string{"notification.update"} })
)

// own selects the caller's notifications, but not those of requests that the company's policies hide from the caller by now. Run it in
// op.Bounded: it is narrowed as requests are.
func own(tx *op.Tx) *ent.NotificationQuery {
	q := tx.Notification.Query().Where(notification.UserID(tx.Principal().ID))
	if visible := tx.Visible(request.Table); visible != nil {
		q.Where(notification.Or(notification.RequestIDIsNil(), notification.HasRequestWith(visible)))
	}
	return q
}

var sorts = op.Sorts{"at": notification.FieldCreatedAt}

// ListInput filters and pages the caller's notifications.
type ListInput struct {
	paging.Page
	Unread *bool `json:"-"` // true for unread ones, false for read ones; nil for all
}

// MarkReadInput names notifications of the caller. Ids of other people's notifications are ignored.
type MarkReadInput struct {
	IDs []string `json:"ids" minItems:"1" maxItems:"100" uniqueItems:"true"`
}

// Marked is the number of notifications that became read.
type Marked struct{ Marked int }

func markRead(ctx context.Context, tx *op.Tx, in MarkReadInput) (*Marked, error) {
	n, err := tx.Notification.Update().
		Where(notification.IDIn(in.IDs...), notification.UserID(tx.Principal().ID), notification.ReadAtIsNil()).
		SetReadAt(tx.Now(ctx)).ClearDigestAt().ClearHeld().Save(ctx)
	if err != nil {
		return nil, fmt.Errorf("mark the notifications: %w", err)
	}
	tx.ChangedField("read", 0, n)
	return &Marked{n}, nil
}

// kept is how long notifications are kept.
const kept = 180 * 24 * time.Hour

// sweep deletes old notifications of all companies.
var sweep = jobs.Sweep{Rows: "notifications", Kept: kept, Delete: func(ctx context.Context, db *ent.Client, before time.Time, limit int) (int, error) {
	ids, err := db.Notification.Query().Where(notification.IDLT(id.From("ntf", before))).Limit(limit).IDs(ctx)
	if err != nil || len(ids) == 0 {
		return 0, err
	}
	return db.Notification.Delete().Where(notification.IDIn(ids...)).Exec(ctx)
}}
