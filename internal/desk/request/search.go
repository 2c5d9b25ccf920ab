package request

import (
	"context"
	"encoding/json"
	"fmt"

	"entgo.io/ent/dialect"
	"entgo.io/ent/dialect/sql"

	"atrium/ent/predicate"
	"atrium/ent/request"
	"atrium/internal/desk/search"
	"atrium/internal/op"
)

// matching returns the filters as predicates, with what is searched for: of what somebody finds by words, the newest search.Most
// requests. own limits them to those that the caller's list has.
func (in ListInput) matching(ctx context.Context, tx *op.Tx, own []predicate.Request) ([]predicate.Request, error) {
	where, err := in.where(ctx, tx)
	if err != nil {
		return nil, err
	}
	where = append(where, own...)
	if in.Q == "" {
		return where, nil
	}
	hits, _, err := search.Requests(ctx, tx, in.Q, visible(tx, where))
	found := make([]string, len(hits))
	for i, hit := range hits {
		found[i] = hit.RequestID
	}
	return []predicate.Request{oneOf(request.FieldID, found)}, err
}

// matchingAmong is matching for requests that are named.
func (in ListInput) matchingAmong(ctx context.Context, tx *op.Tx, ids []string) ([]predicate.Request, error) {
	where, err := in.where(ctx, tx)
	if err != nil {
		return nil, err
	}
	where = append(where, reached(tx)...)
	if in.Q == "" {
		return where, nil
	}
	found, err := search.Among(ctx, tx, in.Q, ids, visible(tx, where))
	return []predicate.Request{oneOf(request.FieldID, found)}, err
}

// visible returns which of some requests a list with these filters shows.
func visible(tx *op.Tx, where []predicate.Request) search.Visible {
	return func(ctx context.Context, ids []string) ([]string, error) {
		return tx.Request.Query().Where(where...).Where(oneOf(request.FieldID, ids)).IDs(ctx)
	}
}

// oneOf matches requests whose column has one of some ids, which are one argument: however many they are, the statement is the same.
func oneOf(column string, ids []string) predicate.Request {
	return func(s *sql.Selector) {
		of := s.C(column)
		s.Where(sql.P(func(b *sql.Builder) {
			if s.Dialect() == dialect.Postgres {
				b.Ident(of).WriteString(" = ANY(").Arg(ids).WriteString("::text[])")
				return
			}
			list, err := json.Marshal(ids)
			if err != nil {
				panic(fmt.Sprintf("ids as JSON: %v", err)) // texts always encode
			}
			b.Ident(of).WriteString(" IN (SELECT value FROM json_each(").Arg(string(list)).WriteString("))")
		}))
	}
}
