package store

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"atrium/ent/migrate"
)

// Kind is the kind of a violated constraint.
type Kind int

// The kinds of constraints.
const (
	Unique Kind = iota
	ForeignKey
)

// Violation is a write that the database refused because of a constraint. It is the same for both dialects.
type Violation struct {
	Kind    Kind
	Table   string   // "services"; empty for a foreign key on SQLite, which does not name the table
	Columns []string // of the unique index, without company_id: ["slug"]
	cause   error
}

// Error returns the constraint and the driver's message; for logs only.
func (v *Violation) Error() string {
	return fmt.Sprintf("constraint on %s(%s): %v", v.Table, strings.Join(v.Columns, ", "), v.cause)
}

// Unwrap returns the driver's error.
func (v *Violation) Unwrap() error { return v.cause }

// uniqueIndexes maps the name of each unique index to its table and columns.
var uniqueIndexes = func() map[string]*Violation {
	m := map[string]*Violation{}
	for _, t := range migrate.Tables {
		m[t.Name+"_pkey"] = &Violation{Kind: Unique, Table: t.Name, Columns: []string{"id"}}
		for _, idx := range t.Indexes {
			if !idx.Unique {
				continue
			}
			v := &Violation{Kind: Unique, Table: t.Name}
			for _, c := range idx.Columns {
				v.Columns = append(v.Columns, c.Name)
			}
			m[idx.Name] = v
		}
		for _, c := range t.Columns {
			if c.Unique {
				v := &Violation{Kind: Unique, Table: t.Name, Columns: []string{c.Name}}
				m[t.Name+"_"+c.Name+"_key"], m[c.Name] = v, v
			}
		}
	}
	return m
}()

// AsViolation turns a driver's constraint error into a *Violation; other errors stay as they are.
func AsViolation(err error) error {
	if pgErr, ok := errors.AsType[*pgconn.PgError](err); ok {
		switch pgErr.Code {
		case "23505":
			v := &Violation{Kind: Unique, Table: parentName(pgErr.TableName), cause: err}
			if idx, ok := uniqueIndexes[parentName(pgErr.ConstraintName)]; ok {
				v.Columns = withoutCompany(idx.Columns)
			}
			return v
		case "23503":
			return &Violation{Kind: ForeignKey, Table: parentName(pgErr.TableName), cause: err}
		}
		return err
	}
	if liteErr, ok := errors.AsType[*sqlite.Error](err); ok {
		switch liteErr.Code() {
		case sqlite3.SQLITE_CONSTRAINT_UNIQUE, sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY:
			v := &Violation{Kind: Unique, cause: err}
			v.Table, v.Columns = sqliteUnique(liteErr.Error())
			return v
		case sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY:
			return &Violation{Kind: ForeignKey, cause: err}
		case sqlite3.SQLITE_CONSTRAINT_TRIGGER: // triggers that replace a foreign key raise this message
			if strings.Contains(liteErr.Error(), "FOREIGN KEY") {
				return &Violation{Kind: ForeignKey, cause: err}
			}
		}
	}
	return err
}

// partition matches the names of partitions of webhook_deliveries, with which the names of their unique indexes begin.
var partition = regexp.MustCompile(`^webhook_deliveries_(first|default|w\d{8})`)

// parentName replaces the name of a partition, also at the beginning of an index's name, by the name of its table. Other names stay as
// they are.
func parentName(name string) string { return partition.ReplaceAllString(name, "webhook_deliveries") }

// sqliteUnique extracts table and columns from "… UNIQUE constraint failed: services.company_id, services.slug (2067)".
func sqliteUnique(msg string) (table string, columns []string) {
	_, list, ok := strings.Cut(msg, "constraint failed: ")
	if !ok {
		return "", nil
	}
	if i := strings.LastIndex(list, "constraint failed: "); i >= 0 {
		list = list[i+len("constraint failed: "):]
	}
	list, _, _ = strings.Cut(list, " (")
	for part := range strings.SplitSeq(list, ", ") {
		t, c, ok := strings.Cut(strings.TrimSpace(part), ".")
		if ok {
			table = t
			columns = append(columns, c)
		}
	}
	return table, withoutCompany(columns)
}

// withoutCompany removes company_id, which the caller did not send.
func withoutCompany(columns []string) []string {
	return slices.DeleteFunc(slices.Clone(columns), func(c string) bool { return c == "company_id" })
}
