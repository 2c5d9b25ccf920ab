package request

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"atrium/ent"
	"atrium/ent/comment"
	"atrium/ent/request"
	"atrium/internal/desk/search"
	"atrium/internal/op"
	"atrium/internal/platform/words"
)

// excerptLength is how many characters an excerpt has at most.
const excerptLength = 160

// Found is a request that was found by words, with the piece of its text that has them.
type Found struct {
	*ent.Request
	Excerpt words.Excerpt // of another text; empty where the title alone has the words
	In      string        // which text: DESCRIPTION, ANSWERS, COMMENT or FILE; empty for none
}

// Find finds requests by words, as the caller's list does: the one with this number first, then the newest, or by relevance those whose
// title has the words. More reports whether there are more. Where more than search.Most are found, there is no order by relevance.
func Find(ctx context.Context, tx *op.Tx, text string, most int, relevance bool) (found []Found, more bool, err error) {
	where := own(tx)
	hits, truncated, err := search.Requests(ctx, tx, text, visible(tx, where))
	if err == nil && relevance && !truncated {
		err = search.ByRelevance(ctx, tx, text, hits)
	}
	if err != nil {
		return nil, false, err
	}
	if n, err := strconv.ParseInt(strings.TrimPrefix(strings.TrimSpace(text), "#"), 10, 64); err == nil {
		ids, err := tx.Request.Query().Where(where...).Where(request.Number(n)).IDs(ctx)
		if err != nil {
			return nil, false, fmt.Errorf("look up a number: %w", err)
		}
		for _, id := range ids {
			hits = slices.DeleteFunc(hits, func(h search.Hit) bool { return h.RequestID == id })
			hits = slices.Insert(hits, 0, search.Hit{RequestID: id, RowID: id})
		}
	}
	more = truncated || len(hits) > most
	found, err = excerpts(ctx, tx, words.Parse(text), hits[:min(most, len(hits))])
	return found, more, err
}

// excerpts reads what was found.
func excerpts(ctx context.Context, tx *op.Tx, q words.Query, hits []search.Hit) ([]Found, error) {
	ids, rows := make([]string, len(hits)), make([]string, len(hits))
	for i, hit := range hits {
		ids[i], rows[i] = hit.RequestID, hit.RowID
	}
	requests, err := tx.Request.Query().Where(request.IDIn(ids...)).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("read what was found: %w", err)
	}
	comments, err := tx.Comment.Query().Where(comment.IDIn(rows...)).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("read what was found: %w", err)
	}
	if err := conceal(ctx, tx, comments...); err != nil {
		return nil, err
	}
	files, err := search.Files(ctx, tx.Client, rows)
	if err != nil {
		return nil, err
	}
	var out []Found
	for _, hit := range hits {
		at := slices.IndexFunc(requests, func(r *ent.Request) bool { return r.ID == hit.RequestID })
		if at < 0 {
			continue // deleted meanwhile
		}
		f := Found{Request: requests[at]}
		texts := []excerptOf{{"DESCRIPTION", f.Description}, {"ANSWERS", strings.Join(search.Answers(f.Fields), " · ")}}
		if at := slices.IndexFunc(comments, func(c *ent.Comment) bool { return c.ID == hit.RowID }); at >= 0 {
			texts = []excerptOf{{"COMMENT", comments[at].Body}}
		}
		for _, name := range files[hit.RowID] {
			texts = append(texts, excerptOf{"FILE", name})
		}
		f.choose(q, texts)
		out = append(out, f)
	}
	return out, nil
}

type excerptOf struct{ in, text string }

// choose takes the text that has the most of the words, of several the first.
func (f *Found) choose(q words.Query, texts []excerptOf) {
	for _, t := range texts {
		if e := q.Excerpt(t.text, excerptLength); e.Terms > f.Excerpt.Terms {
			f.Excerpt, f.In = e, t.in
		}
	}
}
