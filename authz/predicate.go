package authz

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"time"

	"entgo.io/ent/dialect"
	"entgo.io/ent/dialect/sql"
	"github.com/open-policy-agent/opa/v1/ast"

	"atrium/ent/teammember"
)

// filter is a folded rule over the rows of one resource: rows that are permitted and not denied.
type filter struct {
	on        *resource
	permitted node
	denied    node
}

// all reports whether the filter lets every row through.
func (f filter) all() bool { return f.permitted == always(true) && f.denied == always(false) }

// none reports whether it lets no row through.
func (f filter) none() bool { return f.permitted == always(false) || f.denied == always(true) }

// predicate returns the filter for the rows that s selects. Keys and values are bound as parameters. What is NULL in the
// database counts as FALSE for a permission, and as no denial.
func (f filter) predicate(s *sql.Selector) *sql.Predicate {
	// The selector may be renamed before the predicate is written, so name its columns now.
	id := s.C(idColumn)
	of := id[:len(id)-len(idColumn)-1]
	return sql.P(func(b *sql.Builder) {
		w := writer{b: b, of: of, dialect: s.Dialect(), postgres: s.Dialect() == dialect.Postgres}
		w.until, w.bounded = s.Context().Deadline()
		b.WriteByte('(')
		w.inTime()
		w.certain(f.permitted)
		if f.denied != always(false) {
			b.WriteString(" AND NOT ")
			w.certain(f.denied)
		}
		b.WriteByte(')')
	})
}

// idColumn is a column that every entity has.
const idColumn = "id"

// writer writes a folded node as SQL.
type writer struct {
	b        *sql.Builder
	of       string // the text before a column's name, including its opening quote
	dialect  string
	postgres bool

	until   time.Time // the query's deadline
	bounded bool
}

// inTime makes the query fail once its deadline has passed. PostgreSQL does so by itself, but SQLite checks a query's context
// only before its first row. Package store defines the function atrium_in_time.
func (w writer) inTime() {
	if w.bounded && !w.postgres {
		w.b.WriteString("atrium_in_time(").Arg(w.until.UnixNano()).WriteString(") AND ")
	}
}

// col returns a column of the rows, qualified and quoted; name comes from the schema.
func (w writer) col(name string) string { return w.of + name + w.of[len(w.of)-1:] }

// certain writes a node so that it is never NULL.
func (w writer) certain(n node) {
	if b, ok := n.(always); ok {
		w.always(b)
		return
	}
	w.b.WriteString("COALESCE(")
	w.node(n)
	w.b.WriteString(", FALSE)")
}

func (w writer) always(b always) {
	if b {
		w.b.WriteString("1 = 1") // SQLite loses its indexes over a bare TRUE
		return
	}
	w.b.WriteString("1 = 0")
}

func (w writer) node(n node) {
	switch n := n.(type) {
	case always:
		w.always(n)
	case allOf:
		w.joined(n, " AND ")
	case anyOf:
		w.joined(n, " OR ")
	case noneOf:
		w.b.WriteString("NOT ")
		w.certain(n.node)
	case column:
		w.column(n)
	default:
		w.always(false) // a comparison that was not folded: fail closed
	}
}

func (w writer) joined(list []node, by string) {
	w.b.WriteByte('(')
	for i, n := range list {
		if i > 0 {
			w.b.WriteString(by)
		}
		w.node(n)
	}
	w.b.WriteByte(')')
}

// signs are the operators that SQL has, too.
var signs = map[comparison]string{
	equal: " = ", unequal: " <> ", less: " < ", lessEqual: " <= ", greater: " > ", greaterEqual: " >= ",
}

func (w writer) column(c column) {
	switch {
	case c.attr.kind == list:
		w.membership(c)
	case c.op == isNull:
		w.attr(c)
		w.b.WriteString(" IS NULL")
	case c.op == notNull:
		w.attr(c)
		w.b.WriteString(" IS NOT NULL")
	case c.op == isIn || c.op == notIn:
		w.in(c)
	case c.op == startsWith || c.op == notStartsWith:
		w.prefix(c)
	case c.op == matches || c.op == notMatches:
		w.glob(c)
	default:
		collate := w.postgres && c.attr.kind == text && c.op != equal && c.op != unequal
		w.attr(c)
		if collate {
			w.b.WriteString(` COLLATE "C"`)
		}
		w.b.WriteString(signs[c.op])
		w.arg(c.attr.kind, c.want[0])
	}
}

// attr writes the column, or the value of a map under a key.
func (w writer) attr(c column) {
	name := w.col(c.attr.column)
	switch {
	case c.attr.isMap && w.postgres:
		w.b.WriteByte('(').Ident(name).WriteString(" ->> ").Arg(c.key).WriteString("::text)")
	case c.attr.isMap && plainKey.MatchString(c.key):
		w.b.WriteString("json_extract(").Ident(name).WriteString(", ").Arg(`$."` + c.key + `"`).WriteByte(')')
	case c.attr.isMap:
		w.b.WriteString("(SELECT value FROM json_each(").Ident(name).WriteString(") WHERE key = ").Arg(c.key).WriteByte(')')
	case c.attr.blank:
		w.b.WriteString("NULLIF(").Ident(name).WriteString(", '')")
	case c.attr.kind == number && w.postgres:
		w.b.Ident(name).WriteString("::numeric")
	default:
		w.b.Ident(name)
	}
}

// plainKey matches keys that SQLite's paths allow in quotes; other keys are searched one by one.
var plainKey = regexp.MustCompile(`^[A-Za-z0-9_.-]+$`)

// casts names PostgreSQL's types of the kinds, so that a parameter's type never depends on its context.
var casts = map[kind]string{text: "text", number: "numeric", boolean: "boolean", moment: "timestamptz", list: "text"}

func (w writer) arg(k kind, v ast.Value) {
	if !w.postgres {
		w.b.Arg(native(k, v))
		return
	}
	if k == number {
		w.b.Arg(v.String()).WriteString("::text::numeric")
		return
	}
	w.b.Arg(native(k, v)).WriteString("::" + casts[k])
}

// native returns a value as the databases' drivers accept it.
func native(k kind, v ast.Value) any {
	switch v := v.(type) {
	case ast.String:
		if k == moment {
			t, _ := time.Parse(MomentFormat, string(v)) // takes has checked the format
			return t
		}
		return string(v)
	case ast.Boolean:
		return bool(v)
	case ast.Number:
		if i, err := strconv.ParseInt(string(v), 10, 64); err == nil {
			return i
		}
		f, _ := v.Float64()
		return f
	}
	return nil
}

// fewValues is the length up to which a list is bound value by value; a longer one is bound as one parameter.
const fewValues = 8

func (w writer) in(c column) {
	not := ""
	if c.op == notIn {
		not = "NOT "
	}
	w.attr(c)
	switch {
	case w.postgres:
		// <> ALL is NOT IN.
		op := " = ANY("
		if c.op == notIn {
			op = " <> ALL("
		}
		w.b.WriteString(op)
		w.array(c)
		w.b.WriteByte(')')
	case len(c.want) <= fewValues || c.attr.kind == moment:
		w.b.WriteString(" " + not + "IN (")
		for i, v := range c.want {
			if i > 0 {
				w.b.WriteString(", ")
			}
			w.b.Arg(native(c.attr.kind, v))
		}
		w.b.WriteByte(')')
	default:
		text, _ := json.Marshal(natives[any](c)) // texts, numbers and booleans
		w.b.WriteString(" " + not + "IN (SELECT value FROM json_each(").Arg(string(text)).WriteString("))")
	}
}

// array binds the values of a list as one PostgreSQL array.
func (w writer) array(c column) {
	switch c.attr.kind {
	case number:
		texts := make([]string, len(c.want))
		for i, v := range c.want {
			texts[i] = v.String()
		}
		w.b.Arg(texts).WriteString("::text[]::numeric[]")
	case boolean:
		w.b.Arg(natives[bool](c)).WriteString("::boolean[]")
	case moment:
		w.b.Arg(natives[time.Time](c)).WriteString("::timestamptz[]")
	default:
		w.b.Arg(natives[string](c)).WriteString("::text[]")
	}
}

func natives[T any](c column) []T {
	out := make([]T, len(c.want))
	for i, v := range c.want {
		out[i], _ = native(c.attr.kind, v).(T)
	}
	return out
}

func (w writer) prefix(c column) {
	want, _ := native(text, c.want[0]).(string)
	if c.op == notStartsWith {
		w.b.WriteString("NOT ")
	}
	if w.postgres {
		w.b.WriteString("starts_with(")
		w.attr(c)
		w.b.WriteString(", ").Arg(want).WriteString("::text)")
		return
	}
	w.b.WriteString("(substr(")
	w.attr(c)
	w.b.WriteString(", 1, length(").Arg(want).WriteString(")) = ").Arg(want).WriteByte(')')
}

var (
	likeSpecial = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`, `*`, `%`, `?`, `_`)
	globSpecial = strings.NewReplacer(`[`, `[[]`)
)

func (w writer) glob(c column) {
	want, _ := native(text, c.want[0]).(string)
	not := ""
	if c.op == notMatches {
		not = "NOT "
	}
	if w.postgres {
		w.attr(c)
		w.b.WriteString(` COLLATE "C" ` + not + "LIKE ").Arg(likeSpecial.Replace(want)).WriteString(`::text ESCAPE '\'`)
		return
	}
	w.b.WriteByte('(')
	w.inTime()
	w.attr(c)
	w.b.WriteString(" " + not + "GLOB ").Arg(globSpecial.Replace(want)).WriteByte(')')
}

// membership queries the table of memberships.
func (w writer) membership(c column) {
	d := sql.Dialect(w.dialect)
	m := d.Table(teammember.Table).As("policy_members")
	q := d.Select().From(m).AppendSelectExpr(sql.Raw("1")).Where(sql.And(
		sql.ColumnsEQ(m.C(teammember.FieldCompanyID), w.col(teammember.FieldCompanyID)),
		sql.ColumnsEQ(m.C(c.attr.own), w.col(idColumn)),
		sql.In(m.C(c.attr.column), natives[any](c)...),
	))
	p := sql.Exists(q)
	if c.op == notIn {
		p = sql.NotExists(q)
	}
	w.b.Join(p)
}
