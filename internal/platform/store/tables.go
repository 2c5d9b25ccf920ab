package store

import (
	"fmt"
	"strings"

	"entgo.io/ent/dialect"
	"entgo.io/ent/dialect/sql/schema"
	"entgo.io/ent/schema/field"
	"github.com/jackc/pgx/v5"

	"atrium/ent/migrate"
)

// Tables are the tables that the migrations must produce: Ent's, with every foreign key between tenant-owned tables made
// composite, so that the database itself refuses a reference to another company's row.
var Tables = composite(migrate.Tables)

// RowSecurity returns the statements that enable PostgreSQL's row-level security on a table, also for the table's owner. In a
// table with company_id (owned), only the rows of app.company_id are visible, which each transaction sets; in other tables, only
// the system sees rows.
func RowSecurity(table string, owned bool) string {
	rows := "(SELECT current_setting('app.company_id', true)) = '" + allCompanies + "'"
	if owned {
		rows = "company_id = (SELECT current_setting('app.company_id', true)) OR " + rows
	}
	return fmt.Sprintf("ALTER TABLE %[1]s ENABLE ROW LEVEL SECURITY;\nALTER TABLE %[1]s FORCE ROW LEVEL SECURITY;\nCREATE POLICY tenant ON %[1]s USING (%[2]s);\n",
		pgx.Identifier{table}.Sanitize(), rows)
}

// composite returns the tables with JSON's type for columns that hold it, with (company_id, x_id) foreign keys, the unique index that
// each needs on its target, and a foreign key from every company_id to companies and from every account_id to accounts.
func composite(tables []*schema.Table) []*schema.Table {
	byName := map[string]*schema.Table{}
	for _, t := range tables {
		byName[t.Name] = t
	}
	for _, t := range tables {
		for _, c := range t.Columns {
			if c.SchemaType[dialect.SQLite] == "json" {
				c.Type = field.TypeJSON // Ent passes its bytes as they are
			}
		}
		if account, ok := t.Column("account_id"); ok {
			reference(t, account, byName["accounts"])
		}
		own, ok := t.Column("company_id")
		if !ok {
			continue
		}
		for _, fk := range t.ForeignKeys {
			if fk.OnDelete != schema.Cascade {
				fk.OnDelete = schema.NoAction // SET NULL would also clear company_id
			}
			target, ok := fk.RefTable.Column("company_id")
			if !ok || len(fk.Columns) != 1 || fk.RefTable == t {
				continue // Atlas cannot generate a composite key from a table to itself; triggers guard the parents of trees
			}
			fk.Columns = []*schema.Column{own, fk.Columns[0]}
			fk.RefColumns = []*schema.Column{target, fk.RefColumns[0]}
			uniquePair(fk.RefTable, target, fk.RefColumns[1])
		}
		reference(t, own, byName["companies"])
	}
	return tables
}

// reference adds a foreign key from column to the id of target.
func reference(t *schema.Table, column *schema.Column, target *schema.Table) {
	t.ForeignKeys = append(t.ForeignKeys, &schema.ForeignKey{
		Symbol:     t.Name + "_" + strings.TrimSuffix(column.Name, "_id") + "_owner",
		Columns:    []*schema.Column{column},
		RefTable:   target,
		RefColumns: target.PrimaryKey,
		OnDelete:   schema.NoAction,
	})
}

// uniquePair adds the unique index (company_id, id) that composite keys refer to.
func uniquePair(t *schema.Table, company, id *schema.Column) {
	name := t.Name + "_company_id_id"
	for _, idx := range t.Indexes {
		if idx.Name == name {
			return
		}
	}
	t.Indexes = append(t.Indexes, &schema.Index{Name: name, Unique: true, Columns: []*schema.Column{company, id}})
}
