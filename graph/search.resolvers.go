package graph

import (
	"context"

	"atrium/graph/generated"
	"atrium/graph/internal/resolve"
	"atrium/internal/desk/finder"
	"atrium/internal/op"
	"atrium/internal/platform/words"
)

// Search finds whatever a search box finds.
func (r *queryResolver) Search(ctx context.Context, q string, types []generated.SearchType, first *int, sort *generated.SearchSort) ([]*generated.SearchHit, error) {
	in := finder.Input{Q: q, First: op.Or(first, 0)}
	for _, t := range types {
		in.Types = append(in.Types, string(t))
	}
	if sort != nil {
		in.Sort = string(*sort)
	}
	found, err := resolve.Run(ctx, r.Engine, finder.Search, in)
	if err != nil {
		return nil, err
	}
	out := make([]*generated.SearchHit, len(found.Hits))
	for i, h := range found.Hits {
		out[i] = &generated.SearchHit{
			Type: generated.SearchType(h.Type), ID: h.ID, Title: h.Title, Marks: marks(h.Marks), Status: h.Status, Number: h.Number,
		}
		if h.Text != nil {
			out[i].Excerpt = &generated.SearchExcerpt{In: generated.SearchText(*h.In), Text: h.Text.Text, Marks: marks(h.Text.Marks)}
		}
	}
	return out, nil
}

func marks(of []words.Mark) []*generated.SearchMark {
	out := make([]*generated.SearchMark, len(of))
	for i, m := range of {
		out[i] = &generated.SearchMark{Start: m.Start, End: m.End}
	}
	return out
}
