package store

import "context"

// along is a statement that travels with the next query of the reader.
type along struct {
	query string
	args  []any
	out   *int
	sent  bool
}

type alongKey struct{}

// Along returns a context whose first query on PostgreSQL's reader is sent together with another statement, in one
// round trip and one transaction. That statement answers with one number, which is in out when the query has returned.
// The context is for one query only. SQLite, which has no round trips, ignores it.
func Along(ctx context.Context, query string, args []any, out *int) context.Context {
	return context.WithValue(ctx, alongKey{}, &along{query: query, args: args, out: out})
}

// alongOf returns the context's statement when it has not been sent yet.
func alongOf(ctx context.Context) *along {
	a, ok := ctx.Value(alongKey{}).(*along)
	if !ok || a.sent {
		return nil
	}
	a.sent = true
	return a
}
