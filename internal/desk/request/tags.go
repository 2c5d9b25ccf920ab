package request

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"entgo.io/ent/dialect/sql"

	"atrium/ent/predicate"
	"atrium/ent/request"
	"atrium/ent/requesttag"
	"atrium/internal/op"
	"atrium/internal/op/paging"
)

// maxTagged is how many requests with a tag a list names. Of more, it asks each request for the tag, since the next one has it soon: no
// statistics tell a tag that all requests share from one that ten have.
const maxTagged = 1000

// ofTags returns the filters by tags.
func (in ListInput) ofTags(ctx context.Context, tx *op.Tx) (where []predicate.Request, err error) {
	for _, key := range slices.Sorted(maps.Keys(in.Tags)) {
		values := in.Tags[key]
		ids, err := tx.RequestTag.Query().Where(requesttag.Key(key), requesttag.ValueIn(values...)).Limit(maxTagged + 1).
			Select(requesttag.FieldRequestID).Strings(ctx)
		if err != nil {
			return nil, fmt.Errorf("look for the requests with a tag: %w", err)
		}
		if len(ids) <= maxTagged {
			where = append(where, oneOf(request.FieldID, ids))
			continue
		}
		where = append(where, func(s *sql.Selector) {
			t := sql.Dialect(s.Dialect()).Table(requesttag.Table)
			s.Where(sql.Exists(sql.Dialect(s.Dialect()).Select(t.C(requesttag.FieldID)).From(t).Where(sql.And(
				sql.ColumnsEQ(t.C(requesttag.FieldCompanyID), s.C(request.FieldCompanyID)), sql.ColumnsEQ(t.C(requesttag.FieldRequestID), s.C(request.FieldID)),
				tagged(t, key, values)))))
		})
	}
	return where, nil
}

// tagged matches the tags with a key and one of some values.
func tagged(t *sql.SelectTable, key string, values []string) *sql.Predicate {
	return sql.And(sql.EQ(t.C(requesttag.FieldKey), key), sql.In(t.C(requesttag.FieldValue), paging.Anys(values)...))
}

// tagCounter counts the requests with one tag by the tags alone. A request has one value of a key.
func (in ListInput) tagCounter() paging.Counter {
	return paging.Counter{Entity: "Request", Table: requesttag.Table, Rows: func(t *sql.SelectTable) *sql.Predicate {
		for key, values := range in.Tags {
			return tagged(t, key, values)
		}
		return nil
	}}
}
