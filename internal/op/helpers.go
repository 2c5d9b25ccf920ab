package op

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"entgo.io/ent/dialect"
	"entgo.io/ent/dialect/sql"

	"atrium/internal/apperr"
)

// Set calls set when the patch names a value.
func Set[T, U any](p Patch[T], set func(T) U) {
	if v, ok := Given(p); ok {
		set(v)
	}
}

// SetOrClear calls set when the patch names a value and clear when it is null.
func SetOrClear[T, U any](p Patch[T], set func(T) U, unset func() U) {
	if v, ok := Given(p); ok {
		set(v)
	} else if Cleared(p) {
		unset()
	}
}

// Enums turns texts that the input's enum tag has checked into Ent's type.
func Enums[E ~string](values []string) []E {
	out := make([]E, len(values))
	for i, v := range values {
		out[i] = E(v)
	}
	return out
}

// ListOf pages a query: it counts, and fetches the page unless it lies past the end.
func ListOf[T any](ctx context.Context, page Page, sorts Sorts,
	count func(context.Context) (int, error),
	rows func(ctx context.Context, order func(*sql.Selector), offset, limit int) ([]T, error),
) (List[T], error) {
	page = page.normal()
	if page.Window != nil {
		return windowOf(ctx, page, sorts, count, rows)
	}
	total, err := count(ctx)
	if err != nil {
		return List[T]{}, fmt.Errorf("count the rows: %w", err)
	}
	out := List[T]{Total: total, Page: page}
	offset, some := page.Offset(total)
	if !some {
		return out, nil
	}
	if out.Rows, err = rows(ctx, page.Order(sorts), offset, page.Size); err != nil {
		return List[T]{}, fmt.Errorf("read the page: %w", err)
	}
	return out, nil
}

// TagIn matches rows whose tag has one of the values. Key and values are bound, never spliced into the statement; the
// key has passed the tags' own pattern, so that quoting it in SQLite's path is enough.
func TagIn[P ~func(*sql.Selector)](column, key string, values []string) P {
	return func(s *sql.Selector) {
		or := make([]*sql.Predicate, len(values))
		for i, v := range values {
			if s.Dialect() == dialect.Postgres {
				or[i] = sql.P(func(b *sql.Builder) {
					b.Ident(s.C(column)).WriteString(" @> jsonb_build_object(").Arg(key).WriteString("::text, ").Arg(v).WriteString("::text)")
				})
				continue
			}
			or[i] = sql.P(func(b *sql.Builder) {
				b.WriteString("json_extract(").Ident(s.C(column)).WriteString(", ").Arg(`$."` + key + `"`).WriteString(") = ").Arg(v)
			})
		}
		s.Where(sql.Or(or...))
	}
}

// ContainsFold matches rows whose column contains text in any case; no character of it is a wildcard. Letters beyond
// ASCII take a slower comparison, as the databases' own folding depends on how they were set up.
func ContainsFold[P ~func(*sql.Selector)](column, text string) P {
	if isASCII(text) {
		return P(sql.FieldContainsFold(column, text))
	}
	return func(s *sql.Selector) {
		s.Where(sql.P(func(b *sql.Builder) {
			if s.Dialect() == dialect.Postgres {
				b.WriteString("strpos(lower(").Ident(s.C(column)).WriteString(` COLLATE "und-x-icu"), lower(`).Arg(text).WriteString(`::text COLLATE "und-x-icu")) > 0`)
				return
			}
			b.WriteString("instr(atrium_lower(").Ident(s.C(column)).WriteString("), ").Arg(strings.ToLower(text)).WriteString(") > 0")
		}))
	}
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// Refs gathers the faults of ids that an input names.
type Refs struct {
	details []apperr.Detail
	err     error
}

// Check looks id up (nil is fine) and notes a fault at field when it is no row of the company; what is its noun.
func (r *Refs) Check(_ context.Context, field string, id *string, what string, exists func(string) (bool, error)) {
	if id == nil || r.err != nil {
		return
	}
	ok, err := exists(*id)
	switch {
	case err != nil:
		r.err = fmt.Errorf("look %s up: %w", field, err)
	case !ok:
		r.Fault(field, "is no "+what+" of this company")
	}
}

// Fault notes a fault at field.
func (r *Refs) Fault(field, message string) {
	r.details = append(r.details, apperr.Detail{Field: field, Message: message})
}

// Err returns the faults as one validation error, or what went wrong while looking; nil when all is well.
func (r *Refs) Err() error {
	if r.err != nil {
		return r.err
	}
	if len(r.details) > 0 {
		return apperr.Invalid(r.details...)
	}
	return nil
}

// AppendIn adds a filter by a list of values, when there are any.
func AppendIn[P any](where []P, values []string, in func(...string) P) []P {
	if len(values) == 0 {
		return where
	}
	return append(where, in(values...))
}
