package paging

import (
	"slices"
	"strings"
	"unicode/utf8"

	"entgo.io/ent/dialect"
	"entgo.io/ent/dialect/sql"
)

// In adds a filter for rows with one of the values, if there are any values. The input's enum tag has already checked
// texts that stand for one of Ent's enums.
func In[P any, V ~string](where []P, values []string, in func(...V) P) []P {
	if len(values) == 0 {
		return where
	}
	typed := make([]V, len(values))
	for i, v := range values {
		typed[i] = V(v)
	}
	return append(where, in(typed...))
}

// None is the filter value that selects rows without a value.
const None = "none"

// InOrNone is In for a column that may be null; None selects the rows without a value.
func InOrNone[P ~func(*sql.Selector)](where []P, values []string, in func(...string) P, null func() P) []P {
	given := slices.DeleteFunc(slices.Clone(values), func(v string) bool { return v == None })
	switch {
	case len(given) == len(values):
		return In(where, values, in)
	case len(given) == 0:
		return append(where, null())
	}
	return append(where, P(sql.OrPredicates(in(given...), null())))
}

// Contains adds a filter for a part of a text, in any case, if text is not empty.
func Contains[P ~func(*sql.Selector)](where []P, column, text string) []P {
	if text == "" {
		return where
	}
	return append(where, ContainsFold[P](column, text))
}

// TagIn matches rows whose tag has one of the values. Key and values are bound as parameters. The key has passed the
// pattern for tags, so quoting it is enough in SQLite's path.
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

// ContainsFold matches rows whose column contains text in any case; no character is a wildcard. Text beyond ASCII uses a
// slower comparison, because the databases' own folding depends on their configuration.
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
