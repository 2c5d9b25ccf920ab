package paging

import (
	"slices"
	"strings"

	"entgo.io/ent/dialect"
	"entgo.io/ent/dialect/sql"

	"atrium/internal/platform/text"
	"atrium/internal/platform/words"
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

// Words adds a filter for rows that have every word of what somebody searches for, if that is not empty: in any order, each in any of the
// columns, also as a part of a longer word. "Two words" stand side by side, and -word leaves out. What has no words is looked for as it is.
func Words[P ~func(*sql.Selector)](where []P, q string, columns ...string) []P {
	if q == "" {
		return where
	}
	parsed := words.Parse(q)
	if parsed.Empty() {
		return append(where, anyContains[P](columns, q))
	}
	for _, t := range parsed.Terms {
		where = append(where, anyContains[P](columns, t.Text))
	}
	for _, t := range parsed.Not {
		where = append(where, P(sql.NotPredicates(anyContains[P](columns, t.Text))))
	}
	return where
}

// anyContains matches rows of which one of the columns contains a text.
func anyContains[P ~func(*sql.Selector)](columns []string, part string) P {
	or := make([]P, len(columns))
	for i, column := range columns {
		or[i] = containsFold[P](column, part)
	}
	return P(sql.OrPredicates(or...))
}

// TagIn matches rows whose tag has one of the values. Key and values are bound as parameters. The key has passed the
// pattern for tags, so quoting it is enough in SQLite's path.
func TagIn[P ~func(*sql.Selector)](column, key string, values []string) P {
	return func(s *sql.Selector) {
		or, of := make([]*sql.Predicate, len(values)), s.C(column)
		for i, v := range values {
			if s.Dialect() == dialect.Postgres {
				or[i] = sql.P(func(b *sql.Builder) {
					b.Ident(of).WriteString(" @> jsonb_build_object(").Arg(key).WriteString("::text, ").Arg(v).WriteString("::text)")
				})
				continue
			}
			or[i] = sql.P(func(b *sql.Builder) {
				b.WriteString("json_extract(").Ident(of).WriteString(", ").Arg(`$."` + key + `"`).WriteString(") = ").Arg(v)
			})
		}
		s.Where(sql.Or(or...))
	}
}

// containsFold matches rows whose column contains part of a text in any case and spelling, as text.Fold compares, alike on both databases.
// No character is a wildcard.
func containsFold[P ~func(*sql.Selector)](column, part string) P {
	return func(s *sql.Selector) {
		of := folded(s.Dialect(), s.C(column)) // here, because the selector may be given another name before it is written
		s.Where(sql.P(func(b *sql.Builder) {
			if s.Dialect() == dialect.Postgres {
				b.WriteString("coalesce(strpos(" + of + ", ").Arg(text.Fold(part)).WriteString("::text), 0) > 0")
				return
			}
			b.WriteString("coalesce(instr(" + of + ", ").Arg(text.Fold(part)).WriteString("), 0) > 0")
		}))
	}
}

// FoldedIn matches rows whose column is one of the texts in any case and spelling, as text.Fold compares. No index serves it, and it
// takes é for e: compare what it finds by text.NameKey where that matters.
func FoldedIn[P ~func(*sql.Selector)](column string, texts []string) P {
	return func(s *sql.Selector) {
		of := folded(s.Dialect(), s.C(column))
		s.Where(sql.P(func(b *sql.Builder) {
			b.WriteString(of + " IN (")
			for i, t := range texts {
				if i > 0 {
					b.Comma()
				}
				b.Arg(text.Fold(t))
			}
			b.WriteString(")")
		}))
	}
}

// folded returns the SQL of text.Fold of a column. Texts of ASCII, which most are, take the database's own lower().
func folded(of, column string) string {
	ascii, others := "length", "atrium_fold($)"
	lower := "lower($)"
	if of == dialect.Postgres {
		ascii, lower = "char_length", `lower($ COLLATE "und-x-icu")`
		others = `normalize(regexp_replace(normalize(translate(lower(upper(normalize($) COLLATE "und-x-icu")), 'ς', 'σ'), NFD), U&'[\0300-\036F]+', '', 'g'))`
	}
	return strings.ReplaceAll("CASE WHEN octet_length($) = "+ascii+"($) THEN "+lower+" ELSE "+others+" END", "$", column)
}
