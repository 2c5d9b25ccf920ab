package search

import (
	"context"
	"math"
	"slices"
	"time"

	"entgo.io/ent/dialect"

	"atrium/ent"
	"atrium/ent/searchdocument"
	"atrium/internal/op"
)

// maxApart is how many documents that have the rarest word are looked at for requests whose words stand apart.
const maxApart = 250

// apart finds requests whose words stand partly in them and partly in their comments, or in several of these: among the newest that have
// the rarest word. It looks at no more of them after a moment.
func (f *finder) apart(ctx context.Context, until time.Time) error {
	if len(f.query.Terms) < 2 {
		return nil
	}
	var of []*ent.SearchDocument
	for _, d := range f.fresh {
		of = append(of, d.SearchDocument)
	}
	rarest, err := f.rarest(ctx, until)
	if err != nil {
		return err
	}
	seen, ids := map[string]bool{"": true}, []string{}
	for _, d := range append(of, rarest...) {
		if !seen[d.RequestID] && !f.decided[d.RequestID] {
			seen[d.RequestID], ids = true, append(ids, d.RequestID)
		}
	}
	before := len(f.found)
	for some := range slices.Chunk(ids, firstBatch) {
		docs, err := f.ofRequests(ctx, some)
		if err == nil {
			err = f.together(ctx, docs)
		}
		if err != nil {
			return err
		}
		if time.Now().After(until) {
			break
		}
	}
	if len(f.found) > before {
		slices.SortStableFunc(f.found, func(a, b Hit) int { return b.number - a.number })
	}
	return nil
}

// rarest returns the newest documents that have the term of which the index has the fewest.
func (f *finder) rarest(ctx context.Context, until time.Time) (rarest []*ent.SearchDocument, err error) {
	known := false
	for i := range f.query.Terms {
		hits, inTime, err := f.having(ctx, i, until)
		if err != nil {
			return nil, err
		}
		if inTime && (!known || len(hits) < len(rarest)) {
			rarest, known = hits, true
		}
	}
	return rarest, nil
}

// having returns the newest documents that have a term, maxApart at most, unless SQLite is not done in time, as finder.hits says.
func (f *finder) having(ctx context.Context, i int, until time.Time) (hits []*ent.SearchDocument, inTime bool, err error) {
	x, t := f.index, f.query.Terms[i]
	either := []string{f.requestHas(t, f.byName[i])}
	for _, kind := range f.commentKind {
		if !t.Title {
			either = append(either, x.term(kind, t))
		}
	}
	expression := x.and(append(f.own(), x.or(either)))
	timed, cancel := ctx, func() {}
	if x.dialect == dialect.SQLite {
		timed, cancel = context.WithDeadline(ctx, until)
	}
	defer cancel()
	hits, err = x.hits(timed, f.tx.Client, expression, math.MaxInt64, maxApart)
	if err != nil && timed.Err() != nil && ctx.Err() == nil {
		return nil, false, nil
	}
	return hits, true, err
}

// together adds the requests of which the caller reads documents that have every term between them.
func (f *finder) together(ctx context.Context, docs []*document) error {
	docs, err := f.readableOf(ctx, docs)
	if err != nil {
		return err
	}
	type request struct {
		hit  Hit
		has  []bool
		left int
	}
	var inOrder []*request
	all := map[string]*request{}
	for _, d := range docs {
		r := all[d.RequestID]
		if r == nil {
			r = &request{Hit{d.RequestID, d.RequestID, d.ID}, make([]bool, len(f.query.Terms)), len(f.query.Terms)}
			all[d.RequestID], inOrder = r, append(inOrder, r)
		}
		for i := range f.query.Terms {
			if !r.has[i] && f.hasTerm(d, i) {
				r.has[i] = true
				r.left--
				if d.Kind == searchdocument.KindComment {
					r.hit.RowID = d.RowID // the title says what it has by itself
				}
			}
		}
	}
	var hits []Hit
	for _, r := range inOrder {
		if r.left == 0 {
			hits = append(hits, r.hit)
		}
	}
	return f.addRequests(ctx, hits)
}

// readableOf returns those of some documents that the caller may read, where their request is one that they see.
func (f *finder) readableOf(ctx context.Context, docs []*document) ([]*document, error) {
	rows := make([]*ent.SearchDocument, len(docs))
	for i, d := range docs {
		rows[i] = d.SearchDocument
	}
	read, err := f.readable(ctx, rows)
	return slices.DeleteFunc(docs, func(d *document) bool { return d.Kind == searchdocument.KindComment && !read[d.RowID] }), err
}

// ofRequests reads the documents of some requests.
func (f *finder) ofRequests(ctx context.Context, requests []string) ([]*document, error) {
	return f.read(ctx, func(q *ent.SearchDocumentQuery) {
		q.Where(searchdocument.RequestIDIn(requests...)).Order(ent.Desc(searchdocument.FieldID)).Limit(maxOfSome * 10)
	})
}

// without returns those of some requests that have an excluded term, in themselves or in a comment that the caller reads.
func (f *finder) without(ctx context.Context, requests []string) (map[string]bool, error) {
	if len(f.query.Not) == 0 || len(requests) == 0 {
		return nil, nil
	}
	docs, err := f.ofRequests(ctx, requests)
	if err != nil {
		return nil, err
	}
	docs = slices.DeleteFunc(docs, func(d *document) bool { return !f.excluded(d) })
	docs, err = f.readableOf(ctx, docs)
	out := map[string]bool{}
	for _, d := range docs {
		out[d.RequestID] = true
	}
	return out, err
}

// Among returns those of some requests that the caller finds by what they wrote. Visible decides about these alone.
func Among(ctx context.Context, tx *op.Tx, text string, requests []string, visible Visible) ([]string, error) {
	f := newFinder(tx, text, visible)
	if f.query.Empty() || len(requests) == 0 {
		return nil, nil
	}
	leave, err := turn(ctx, tx)
	if err != nil {
		return nil, err
	}
	defer leave()
	if _, err := f.pending(ctx); err != nil {
		return nil, err
	}
	if err := f.prepare(ctx); err != nil {
		return nil, err
	}
	docs, err := f.read(ctx, func(q *ent.SearchDocumentQuery) {
		q.Where(searchdocument.RequestIDIn(requests...)).Order(ent.Desc(searchdocument.FieldID)).Limit(maxOfSome)
	})
	if err != nil {
		return nil, err
	}
	err = f.together(ctx, docs)
	ids := make([]string, len(f.found))
	for i, hit := range f.found {
		ids[i] = hit.RequestID
	}
	return ids, err
}
