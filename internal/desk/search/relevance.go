package search

import (
	"context"
	"slices"

	"atrium/ent"
	"atrium/ent/searchdocument"
	"atrium/internal/op"
	"atrium/internal/platform/words"
)

// What a term is worth by where it stands: more in the title, more as the whole word, least in a comment.
const (
	inTitleWorth = 4
	inTextWorth  = 2
	wholeWorth   = 1
)

// ByRelevance orders requests that were found for a text: those first that have its words in the title, and as whole words. Among equals
// their order stays.
func ByRelevance(ctx context.Context, tx *op.Tx, text string, hits []Hit) error {
	ids := make([]string, len(hits))
	for i, hit := range hits {
		ids[i] = hit.RequestID
	}
	f := newFinder(tx, text, nil)
	docs, err := f.read(ctx, func(q *ent.SearchDocumentQuery) { q.Where(searchdocument.RowIDIn(ids...)) })
	if err != nil {
		return err
	}
	worth := make(map[string]int, len(docs))
	for _, d := range docs {
		for _, t := range f.query.Terms {
			worth[d.RowID] += worthOf(d.words, t)
		}
	}
	slices.SortStableFunc(hits, func(a, b Hit) int { return worth[b.RequestID] - worth[a.RequestID] })
	return nil
}

func worthOf(d *words.Document, t words.Term) int {
	whole := t
	whole.Prefix = false
	for _, in := range []struct {
		kind  byte
		worth int
	}{{inTitle, inTitleWorth}, {inRequest, inTextWorth}} {
		switch {
		case d.Has(in.kind, whole):
			return in.worth + wholeWorth
		case d.Has(in.kind, t):
			return in.worth
		}
	}
	return 0
}
