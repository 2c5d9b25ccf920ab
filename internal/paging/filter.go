package paging

import (
	"slices"
	"strings"
	"unicode/utf8"

	"entgo.io/ent/dialect"
	"entgo.io/ent/dialect/sql"
)

// In adds a filter by a list of values, of which a row has one, when there are any. Texts that stand for an enum of Ent's
// were checked by the input's enum tag.
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

// None is the value of a filter that stands for rows without one.
const None = "none"

// InOrNone is In for a column that may be null, where None finds the rows that have no value.
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

// Contains adds a filter by a part of a text in any case, when there is one.
func Contains[P ~func(*sql.Selector)](where []P, column, text string) []P {
	if text == "" {
		return where
	}
	return append(where, ContainsFold[P](column, text))
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
