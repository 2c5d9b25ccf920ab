package search

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"entgo.io/ent/dialect"
	"entgo.io/ent/dialect/sql"

	"atrium/ent"
	"atrium/ent/comment"
	"atrium/ent/searchdocument"
	"atrium/internal/op"
	"atrium/internal/platform/words"
)

const (
	// Most is how many requests a search finds at most.
	Most = 1000

	within     = 250 * time.Millisecond // after which it looks no further
	maxFresh   = 200                    // documents of a company that are read from their rows, because they are not written
	maxOfSome  = 2000                   // documents of requests that are named
	firstBatch = 256                    // candidates that are looked at together; twice as many the next time
	maxBatch   = 4096
)

// Visible returns those of some requests that the caller may see and that pass the filters of their list.
type Visible func(ctx context.Context, ids []string) ([]string, error)

// Hit is a request that was found, and the row that has the words: the request itself, or a comment on it.
type Hit struct {
	RequestID, RowID string

	number int // of the document that has the words
}

// Requests returns the newest requests that the caller finds by what they wrote, and whether it ended before it had looked at
// all. Nothing is found by a text without words.
func Requests(ctx context.Context, tx *op.Tx, text string, visible Visible) (found []Hit, truncated bool, err error) {
	f := newFinder(tx, text, visible)
	if f.query.Empty() {
		return nil, false, nil
	}
	leave, err := turn(ctx, tx)
	if err != nil {
		return nil, false, err
	}
	defer leave()
	fresh, err := f.pending(ctx)
	if err != nil {
		return nil, false, err
	}
	if err := f.prepare(ctx); err != nil {
		return nil, false, err
	}
	if err := f.consider(ctx, fresh); err != nil {
		return nil, false, err
	}
	began := time.Now()
	before, batch := int64(math.MaxInt64), firstBatch
	for {
		hits, err := f.hits(ctx, before, batch)
		if err != nil {
			return nil, false, err
		}
		more := len(hits) == batch
		if len(hits) > 0 {
			before = int64(hits[len(hits)-1].ID)
		}
		if err := f.indexed(ctx, hits); err != nil {
			return nil, false, err
		}
		if len(f.found) >= Most {
			return f.found[:Most], true, nil
		}
		if !more {
			err = f.apart(ctx, began.Add(within))
			return f.found[:min(len(f.found), Most)], f.whole, err
		}
		if time.Since(began) > within {
			return f.found, true, nil
		}
		if len(f.query.Not) == 0 && !f.query.Side() { // these read every candidate's documents
			batch = min(2*batch, maxBatch)
		}
	}
}

// hits asks the index. Where the last word is the beginning of so many words that SQLite is not done with them in time, it is taken for a
// whole word from then on: SQLite puts all of their documents together before it gives the first.
func (f *finder) hits(ctx context.Context, before int64, batch int) ([]*ent.SearchDocument, error) {
	if f.index.dialect == dialect.Postgres || f.whole {
		return f.index.hits(ctx, f.tx.Client, f.expression(), before, batch)
	}
	timed, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	hits, err := f.index.hits(timed, f.tx.Client, f.expression(), before, batch)
	if err == nil || timed.Err() == nil || ctx.Err() != nil {
		return hits, err
	}
	f.whole = true
	for i := range f.query.Terms {
		f.query.Terms[i].Prefix = false
	}
	return f.index.hits(ctx, f.tx.Client, f.expression(), before, batch)
}

// document is a document with its words.
type document struct {
	*ent.SearchDocument
	words *words.Document
}

// finder is one search.
type finder struct {
	tx      *op.Tx
	index   index
	query   words.Query
	visible Visible

	fresh       map[int]*document // those that are not written, by their numbers
	byName      [][]string        // for each term the ids of rows whose names have it
	notName     [][]string        // likewise for each excluded term
	found       []Hit
	decided     map[string]bool // the requests that were asked about
	commentKind []byte          // the kinds of comments that the caller reads
	whole       bool            // the last word is no beginning any more, because it took too long
}

func newFinder(tx *op.Tx, text string, visible Visible) *finder {
	f := &finder{
		tx: tx, query: words.Parse(text), visible: visible, decided: map[string]bool{}, fresh: map[int]*document{}, commentKind: []byte{inPublic},
		index: index{ent.DriverOf(tx.Client).Dialect(), tx.Principal().CompanyID},
	}
	if !tx.OwnOnly() {
		f.commentKind = append(f.commentKind, inInternal)
	}
	return f
}

// isPending matches the documents that are to be written. The number stands in the statement, so that the index of these serves it.
func isPending(s *sql.Selector) { s.Where(sql.ExprP(s.C(searchdocument.FieldPending) + " > 0")) }

// pending reads the newest documents that are not written.
func (f *finder) pending(ctx context.Context) ([]*document, error) {
	docs, err := f.read(ctx, func(q *ent.SearchDocumentQuery) {
		q.Where(isPending).Order(ent.Desc(searchdocument.FieldID)).Limit(maxFresh)
	})
	for _, d := range docs {
		f.fresh[d.ID] = d
	}
	return docs, err
}

// read reads documents, the words of those that are not written from their rows. Documents of rows that the caller may not see may be left
// out.
func (f *finder) read(ctx context.Context, which func(*ent.SearchDocumentQuery)) ([]*document, error) {
	q := f.tx.SearchDocument.Query()
	which(q)
	rows, err := q.All(ctx)
	if err != nil {
		return nil, fmt.Errorf("read documents: %w", err)
	}
	var stale []*ent.SearchDocument
	for _, d := range rows {
		if d.Pending > 0 || f.query.Side() {
			stale = append(stale, d)
		}
	}
	fresh, err := fromRows(ctx, f.tx.Client, stale)
	if err != nil {
		return nil, err
	}
	var out []*document
	for _, d := range rows {
		w := fresh[d.RowID]
		if w == nil && d.Pending == 0 && !f.query.Side() {
			w = words.Stored(d.Tokens)
		}
		if w != nil {
			out = append(out, &document{d, w})
		}
	}
	return out, nil
}

// prepare looks up which rows the terms name.
func (f *finder) prepare(ctx context.Context) (err error) {
	if f.byName, err = f.named(ctx, f.query.Terms); err != nil {
		return err
	}
	f.notName, err = f.named(ctx, f.query.Not)
	return err
}

// expression returns what the index is asked: for requests that have the terms, and for comments that do.
func (f *finder) expression() string {
	x, own := f.index, f.own()
	var none []string
	for i, t := range f.query.Not {
		if len(t.Phrase) == 0 { // its words may stand there apart
			none = append(none, f.requestHas(t, f.notName[i]))
		}
	}
	of := slices.Clone(own)
	for i, t := range f.query.Terms {
		of = append(of, f.requestHas(t, f.byName[i]))
	}
	found := []string{x.not(x.and(of), none)}
	if slices.ContainsFunc(f.query.Terms, func(t words.Term) bool { return t.Title }) {
		return found[0]
	}
	for _, kind := range f.commentKind {
		of := slices.Clone(own)
		for _, t := range f.query.Terms {
			of = append(of, x.term(kind, t))
		}
		found = append(found, x.and(of))
	}
	return x.or(found)
}

// own returns the expression for what belongs to requests of the caller, where they find no others.
func (f *finder) own() []string {
	if !f.tx.OwnOnly() {
		return nil
	}
	return []string{f.index.token(ofRow, f.tx.Principal().ID, false)}
}

// requestHas returns the expression for requests that have a term, or belong to one of the rows.
func (f *finder) requestHas(t words.Term, ids []string) string {
	kind := byte(inRequest)
	if t.Title {
		kind = inTitle
	}
	either := []string{f.index.term(kind, t)}
	for _, id := range ids {
		either = append(either, f.index.token(ofRow, id, false))
	}
	return f.index.or(either)
}

// has reports whether a document has a term, or is of a request that belongs to one of the rows.
func (f *finder) has(d *document, t words.Term, ids []string) bool {
	if d.Kind == searchdocument.KindComment {
		return !t.Title && slices.ContainsFunc(f.commentKind, func(kind byte) bool { return d.words.Has(kind, t) })
	}
	kind := byte(inRequest)
	if t.Title {
		kind = inTitle
	}
	return d.words.Has(kind, t) || slices.ContainsFunc(ids, func(id string) bool { return d.words.HasToken(ofRow, id) })
}

// matches reports whether a document has every term.
func (f *finder) matches(d *document) bool {
	for i := range f.query.Terms {
		if !f.hasTerm(d, i) {
			return false
		}
	}
	return d.RequestID != ""
}

func (f *finder) hasTerm(d *document, i int) bool { return f.has(d, f.query.Terms[i], f.byName[i]) }

// excluded reports whether a document has a term that must not be there.
func (f *finder) excluded(d *document) bool {
	for i, t := range f.query.Not {
		if f.has(d, t, f.notName[i]) {
			return true
		}
	}
	return false
}

// consider adds the requests of the documents that match.
func (f *finder) consider(ctx context.Context, docs []*document) error {
	var hits []*ent.SearchDocument
	for _, d := range docs {
		if f.matches(d) {
			hits = append(hits, d.SearchDocument)
		}
	}
	return f.add(ctx, hits)
}

// indexed adds the requests of documents that the index gave.
func (f *finder) indexed(ctx context.Context, hits []*ent.SearchDocument) error {
	hits = slices.DeleteFunc(hits, func(d *ent.SearchDocument) bool { return f.fresh[d.ID] != nil })
	if f.query.Side() {
		read, err := fromRows(ctx, f.tx.Client, hits)
		if err != nil {
			return err
		}
		hits = slices.DeleteFunc(hits, func(d *ent.SearchDocument) bool {
			return read[d.RowID] == nil || !f.matches(&document{d, read[d.RowID]})
		})
	}
	return f.add(ctx, hits)
}

// add adds the requests of documents that match, as far as the caller may see document and request.
func (f *finder) add(ctx context.Context, hits []*ent.SearchDocument) error {
	read, err := f.readable(ctx, hits)
	if err != nil {
		return err
	}
	var more []Hit
	for _, d := range hits {
		if d.Kind == searchdocument.KindRequest || read[d.RowID] {
			more = append(more, Hit{d.RequestID, d.RowID, d.ID})
		}
	}
	return f.addRequests(ctx, more)
}

// addRequests adds the requests that the caller may see, once each.
func (f *finder) addRequests(ctx context.Context, hits []Hit) error {
	var more []Hit
	var ids []string
	for _, hit := range hits {
		if !f.decided[hit.RequestID] {
			f.decided[hit.RequestID] = true
			more, ids = append(more, hit), append(ids, hit.RequestID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	visible, err := f.visible(ctx, ids)
	if err != nil {
		return err
	}
	without, err := f.without(ctx, visible)
	if err != nil {
		return err
	}
	seen := setOf(visible)
	for _, hit := range more { // in their order
		if seen[hit.RequestID] && !without[hit.RequestID] {
			f.found = append(f.found, hit)
		}
	}
	return nil
}

// readable returns those of the documents' comments that the caller may read, where their request is one that they see.
func (f *finder) readable(ctx context.Context, docs []*ent.SearchDocument) (map[string]bool, error) {
	var ids []string
	for _, d := range docs {
		if d.Kind == searchdocument.KindComment {
			ids = append(ids, d.RowID)
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	q := f.tx.Comment.Query().Where(comment.IDIn(ids...))
	if f.tx.OwnOnly() {
		q.Where(comment.VisibilityEQ(comment.VisibilityPublic))
	}
	seen, err := q.IDs(ctx)
	if err != nil {
		return nil, fmt.Errorf("look up comments: %w", err)
	}
	return setOf(seen), nil
}

func setOf(ids []string) map[string]bool {
	set := make(map[string]bool, len(ids))
	for _, id := range ids {
		set[id] = true
	}
	return set
}
