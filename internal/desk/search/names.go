package search

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"atrium/ent"
	"atrium/ent/offering"
	"atrium/ent/searchdocument"
	"atrium/ent/service"
	"atrium/ent/user"
	"atrium/internal/platform/words"
)

// maxNamed limits the services, offerings and people that a word stands for, together.
const maxNamed = 50

// named returns, for each term, the ids of the services, offerings and people whose names have it, out of those that the caller may see.
// Callers who find only their own requests find them by no person's name, because it would be their own.
func (f *finder) named(ctx context.Context, terms []words.Term) ([][]string, error) {
	out := make([][]string, len(terms))
	found := map[searchdocument.Kind]map[string]bool{}
	for i, t := range terms {
		if t.Title {
			continue
		}
		hits, err := f.index.hits(ctx, f.tx.Client, f.index.term(inName, t), math.MaxInt64, maxNamed)
		if err != nil {
			return nil, err
		}
		if len(t.Phrase) > 0 {
			if hits, err = f.reread(ctx, hits, func(d *words.Document) bool { return d.Has(inName, t) }); err != nil {
				return nil, err
			}
		}
		for _, hit := range hits {
			if f.fresh[hit.ID] == nil {
				out[i] = append(out[i], hit.RowID)
			}
		}
		for _, fresh := range f.fresh {
			if fresh.words.Has(inName, t) {
				out[i] = append(out[i], fresh.RowID)
			}
		}
		for _, id := range out[i] {
			kind := kindOf(id)
			if found[kind] == nil {
				found[kind] = map[string]bool{}
			}
			found[kind][id] = true
		}
	}
	return out, f.onlySeen(ctx, out, found)
}

// reread returns the documents whose rows match.
func (f *finder) reread(ctx context.Context, docs []*ent.SearchDocument, match func(*words.Document) bool) (out []*ent.SearchDocument, err error) {
	read, err := fromRows(ctx, f.tx.Client, docs)
	for _, d := range docs {
		if w := read[d.RowID]; w != nil && match(w) {
			out = append(out, d)
		}
	}
	return out, err
}

// onlySeen takes the ids out that the caller may not see.
func (f *finder) onlySeen(ctx context.Context, ids [][]string, found map[searchdocument.Kind]map[string]bool) error {
	seen := map[string]bool{}
	for kind, some := range found {
		var visible []string
		var err error
		list := slices.Collect(maps.Keys(some))
		switch kind {
		case searchdocument.KindService:
			visible, err = f.tx.Service.Query().Where(service.IDIn(list...)).IDs(ctx)
		case searchdocument.KindOffering:
			visible, err = f.tx.Offering.Query().Where(offering.IDIn(list...)).IDs(ctx)
		case searchdocument.KindUser:
			if !f.tx.OwnOnly() {
				visible, err = f.tx.User.Query().Where(user.IDIn(list...)).IDs(ctx)
			}
		}
		if err != nil {
			return fmt.Errorf("look up what has the name: %w", err)
		}
		maps.Copy(seen, setOf(visible))
	}
	for i := range ids {
		ids[i] = slices.DeleteFunc(ids[i], func(id string) bool { return !seen[id] })
	}
	return nil
}
