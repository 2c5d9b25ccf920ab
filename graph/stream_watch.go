package graph

import (
	"context"
	"errors"

	"github.com/99designs/gqlgen/graphql"

	"atrium/graph/generated"
	"atrium/graph/internal/resolve"
	"atrium/internal/notify/feed"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
)

// watched says which changes a subscription reports.
type watched struct {
	kind feed.Kind
	of   feed.Filter // of the caller's company
}

// watch is the common part of subscription resolvers: it subscribes the context's stream to the feed. look reads the rows with
// the given ids as the caller, ideally in one statement, and silently leaves out those that the caller may not see. Without ids
// it only checks the caller's rights. internal are the ids whose change only staff may see. event builds what clients receive for
// a row.
func watch[Row, Event any](ctx context.Context, w watched, look func(ctx context.Context, ids, internal []string) (map[string]*Row, error),
	event func(generated.ChangeKind, *Row) *Event,
) (<-chan *Event, error) {
	st, ok := ctx.Value(streamKey{}).(*stream)
	p, called := principal.From(ctx)
	if !ok || !called {
		return nil, errors.New("graph: a subscription outside of a stream")
	}
	if _, err := look(ctx, nil, nil); err != nil {
		return nil, st.refuse(err)
	}
	w.of.CompanyID = p.CompanyID
	changes, err := st.feed.Subscribe(ctx, w.kind, w.of)
	if err != nil {
		return nil, st.refuse(apperr.Wrap(err, apperr.Unavailable, "The stream cannot be opened at the moment. Try again shortly."))
	}
	out := make(chan *Event, 1) // render reads each event right after it was sent here
	st.field, st.changes = graphql.GetFieldContext(ctx), changes
	st.events = func(ctx context.Context, changes []feed.Change) ([]func(), error) {
		ids := make([]string, len(changes))
		var internal []string
		for i, c := range changes {
			if ids[i] = c.ID; c.Internal {
				internal = append(internal, c.ID)
			}
		}
		found, err := look(ctx, ids, internal)
		if err != nil {
			return nil, err
		}
		var rows []*Row
		var events []func()
		for _, c := range changes {
			if row := found[c.ID]; row != nil {
				rows = append(rows, row)
				events = append(events, func() { out <- event(kindOf(c), row) })
			}
		}
		resolve.Batch(ctx, rows)
		return events, nil
	}
	return out, nil
}

// readable is the look of a subscription that may be to one row: before the stream opens, the caller must be able to read that row.
func readable[Row, Rows any](e *op.Engine, id *string, get *op.Operation[op.ByID, *Row], look func(ctx context.Context, ids, internal []string) (Rows, error)) func(ctx context.Context, ids, internal []string) (Rows, error) {
	return func(ctx context.Context, ids, internal []string) (Rows, error) {
		if ids == nil && id != nil {
			if _, err := resolve.Read(ctx, e, get, *id); err != nil {
				var none Rows
				return none, err
			}
		}
		return look(ctx, ids, internal)
	}
}

// refuse stores the operation's error that keeps a stream from being opened.
func (st *stream) refuse(err error) error {
	st.refusal = err
	return err
}

func kindOf(c feed.Change) generated.ChangeKind {
	if c.Created {
		return generated.ChangeKindCreated
	}
	return generated.ChangeKindUpdated
}
