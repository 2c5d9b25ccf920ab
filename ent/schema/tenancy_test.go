package schema_test

import (
	"context"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/ent/migrate"
	"atrium/ent/schema"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
)

// companies is a world with one row of every entity in each of two companies.
type companies struct {
	*testkit.World
	a, b                 rows
	asA, asB, asSystem   context.Context
	nobody, withoutTrust context.Context // no principal; a principal of no company
}

func twoCompanies(t *testing.T, w *testkit.World) *companies {
	t.Helper()
	c := &companies{World: w, a: seed(t, w, w.A, "a"), b: seed(t, w, w.B, "b")}
	c.asA, c.asB = w.As(w.A, principal.Owner), w.As(w.B, principal.Owner)
	c.asSystem = principal.System(context.Background(), "test")
	c.nobody = context.Background()
	c.withoutTrust = principal.With(context.Background(), &principal.Principal{Type: principal.TypeSystem, Role: principal.Owner})
	w.Clock.SetOffset(time.Hour) // what is touched from now on shows it in updated_at
	return c
}

// each runs fn for every entity of the schema, in parallel, on both databases.
func each(t *testing.T, fn func(t *testing.T, c *companies, entity string, client reflect.Value, k kind)) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		c := twoCompanies(t, w)
		for entity, client := range clients(w.Store.Reader()) {
			t.Run(entity, func(t *testing.T) {
				t.Parallel()
				fn(t, c, entity, client, kindOf(entity, client))
			})
		}
	})
}

func TestEveryEntityHasAFixture(t *testing.T) {
	t.Parallel()
	w := testkit.SQLiteWorld(t)
	all := clients(w.Store.Reader())
	require.Len(t, all, len(migrate.Tables), "a table without a client, or the other way round")
	have := map[string]bool{}
	for _, f := range fixtures {
		require.Contains(t, all, f.entity, "a fixture of an entity that is gone")
		require.False(t, have[f.entity], "%s has two fixtures", f.entity)
		have[f.entity] = true
	}
	withCompany, guarded := 0, 0
	for entity, client := range all {
		require.True(t, have[entity], "the new entity %s needs a fixture in fixture_test.go: without one nothing tests its tenancy", entity)
		if kindOf(entity, client) == owned {
			guarded++
		}
	}
	for _, table := range migrate.Tables {
		if _, ok := table.Column("company_id"); ok {
			withCompany++
		}
	}
	require.Equal(t, withCompany, guarded)
}

// As company A, no query reaches the row of B by any way; the same query reaches it as B, so it does look.
func TestQueriesStayInTheCompany(t *testing.T) {
	each(t, func(t *testing.T, c *companies, entity string, client reflect.Value, k kind) {
		id := c.b[entity]
		row := c.row(t, client, id)
		for _, s := range reads(client) {
			if k == global {
				_, err := s.run(c.asA, client, id, row)
				require.ErrorIs(t, err, schema.ErrOtherCompany, "%s as A", s.name)
				n, err := s.run(c.asSystem, client, id, row)
				require.NoError(t, err, s.name)
				require.Equal(t, 1, n, "%s as the system", s.name)
				continue
			}
			n, err := s.run(c.asA, client, id, row)
			require.NoError(t, err, "%s as A", s.name)
			require.Zero(t, n, "%s shows a row of B to A", s.name)
			for _, ctx := range []context.Context{c.asB, c.asSystem} {
				n, err = s.run(ctx, client, id, row)
				require.NoError(t, err, s.name)
				require.Positive(t, n, "%s finds nothing where it should", s.name)
			}
		}
	})
}

// The same inside of a write transaction, where PostgreSQL binds the company once.
func TestQueriesInATransactionStayInTheCompany(t *testing.T) {
	each(t, func(t *testing.T, c *companies, entity string, client reflect.Value, k kind) {
		id := c.b[entity]
		row := c.row(t, client, id)
		for _, s := range reads(client) {
			n, err := c.inTx(c.asA, entity, s, id, row)
			if k == global {
				require.ErrorIs(t, err, schema.ErrOtherCompany, s.name)
				continue
			}
			require.NoError(t, err, s.name)
			require.Zero(t, n, "%s shows a row of B to A", s.name)
		}
	})
}

func TestWritesStayInTheCompany(t *testing.T) {
	each(t, func(t *testing.T, c *companies, entity string, client reflect.Value, k kind) {
		id := c.b[entity]
		row := c.row(t, client, id)
		for _, s := range append(writes(), sweeps()...) {
			n, after, err := c.write(c.asA, entity, s, id, row)
			switch {
			case k == global:
				require.ErrorIs(t, err, schema.ErrOtherCompany, s.name)
				continue
			case err != nil: // the statement hit A's own rows, which something refuses; the transaction is gone
				require.Contains(t, []string{"Update everything", "Delete everything"}, s.name, "%v", err)
				continue
			}
			require.Zero(t, n, "%s reached a row of B as A", s.name)
			require.Equal(t, fmt.Sprint(row), after, "%s changed a row of B as A", s.name)
		}
	})
}

// The updates of the test above do change rows of their own company.
func TestWritesReachTheirOwn(t *testing.T) {
	each(t, func(t *testing.T, c *companies, entity string, client reflect.Value, k kind) {
		if k == global || appendOnly[entity] {
			return
		}
		id := c.b[entity]
		row := c.row(t, client, id)
		for _, s := range writes()[:3] {
			n, after, err := c.write(c.asB, entity, s, id, row)
			require.NoError(t, err, s.name)
			require.Equal(t, 1, n, s.name)
			require.NotEqual(t, fmt.Sprint(row), after, s.name)
		}
	})
}

// Without a principal, and with one of no company, every statement on every entity fails closed.
func TestNobodyReachesAnything(t *testing.T) {
	each(t, func(t *testing.T, c *companies, entity string, client reflect.Value, _ kind) {
		id := c.a[entity]
		row := c.row(t, client, id)
		for ctx, want := range map[context.Context]error{c.nobody: schema.ErrNoPrincipal, c.withoutTrust: schema.ErrOtherCompany} {
			for _, s := range reads(client) {
				_, err := s.run(ctx, client, id, row)
				require.ErrorIs(t, err, want, s.name)
			}
			for _, s := range append(writes(), sweeps()...) {
				_, err := c.inTx(ctx, entity, s, id, row)
				require.ErrorIs(t, err, want, s.name)
			}
			err := try(c.World, ctx, func(ctx context.Context, tx *store.Tx) error {
				_, err := save(ctx, c.create(tx.Client, entity, c.a))
				return err
			})
			require.ErrorIs(t, err, want, "Create")
		}
	})
}

func TestCreateIsStamped(t *testing.T) {
	each(t, func(t *testing.T, c *companies, entity string, client reflect.Value, k kind) {
		// make creates the entity as A, with company_id set when it is not empty, alone or in bulk.
		create := func(company string, bulk bool) (owner string, err error) {
			err = try(c.World, c.asA, func(ctx context.Context, tx *store.Tx) error {
				b := c.create(tx.Client, entity, c.a)
				if company != "" {
					setCompany(b, company)
				}
				var row reflect.Value
				if bulk {
					out := call(call(clients(tx.Client)[entity], "CreateBulk", b)[0], "Save", ctx)
					if err := asError(out[1]); err != nil {
						return err
					}
					row = out[0].Index(0)
				} else if row, err = save(ctx, b); err != nil {
					return err
				}
				owner = row.Elem().FieldByName("CompanyID").String()
				return nil
			})
			return owner, err
		}
		for _, bulk := range []bool{false, true} {
			if k != owned {
				_, err := create("", bulk)
				require.ErrorIs(t, err, schema.ErrOtherCompany, "bulk %t", bulk)
				continue
			}
			for _, named := range []string{"", c.A.Company.ID} {
				owner, err := create(named, bulk)
				require.NoError(t, err, "bulk %t", bulk)
				require.Equal(t, c.A.Company.ID, owner)
			}
			_, err := create(c.B.Company.ID, bulk)
			require.ErrorIs(t, err, schema.ErrOtherCompany, "bulk %t", bulk)
			_, err = create(c.A.Sandbox.ID, bulk)
			require.ErrorIs(t, err, schema.ErrOtherCompany, "bulk %t: the sandbox is another company", bulk)
		}
	})
}

// appendOnly are the entities whose rows the database itself refuses to change.
var appendOnly = map[string]bool{"AuditEntry": true, "AuditLeaf": true}

// No update moves a row into another company, not even through its mutation.
func TestCompanyCannotBeChanged(t *testing.T) {
	each(t, func(t *testing.T, c *companies, entity string, client reflect.Value, k kind) {
		if k != owned {
			return
		}
		var after string
		err := try(c.World, c.asA, func(ctx context.Context, tx *store.Tx) error {
			u := call(clients(tx.Client)[entity], "UpdateOneID", c.a[entity])[0]
			m := call(u, "Mutation")[0].Interface().(ent.Mutation)
			if err := m.SetField("company_id", c.B.Company.ID); err != nil {
				return err
			}
			_, err := save(ctx, touch(u))
			if err != nil {
				return err
			}
			row, err := c.get(ctx, tx, entity, c.a[entity])
			if err == nil {
				after = row.Elem().FieldByName("CompanyID").String()
			}
			return err
		})
		if appendOnly[entity] {
			require.ErrorContains(t, err, "append-only")
			return
		}
		require.NoError(t, err)
		require.Equal(t, c.A.Company.ID, after)
	})
}

// row reads a row as the system.
func (c *companies) row(t *testing.T, client reflect.Value, id any) any {
	t.Helper()
	out := call(client, "Get", c.asSystem, id)
	require.NoError(t, asError(out[1]))
	return out[0].Interface()
}

// create returns the filled create of an entity, one more than the seeded row.
func (c *companies) create(db *ent.Client, entity string, own rows) reflect.Value {
	for _, f := range fixtures {
		if f.entity == entity {
			return reflect.ValueOf(f.build(db, own, "more"))
		}
	}
	panic("no fixture of " + entity)
}

// inTx runs a statement in a transaction of its own that is rolled back.
func (c *companies) inTx(ctx context.Context, entity string, s statement, id, row any) (n int, err error) {
	err = try(c.World, ctx, func(ctx context.Context, tx *store.Tx) error {
		var err error
		n, err = s.run(ctx, clients(tx.Client)[entity], id, row)
		return err
	})
	return n, err
}

// write is inTx that also tells what the row looks like after the statement.
func (c *companies) write(ctx context.Context, entity string, s statement, id, row any) (n int, after string, err error) {
	err = try(c.World, ctx, func(ctx context.Context, tx *store.Tx) error {
		var err error
		if n, err = s.run(ctx, clients(tx.Client)[entity], id, row); err != nil {
			return err
		}
		now, err := c.get(ctx, tx, entity, id)
		if err == nil {
			after = fmt.Sprint(now.Interface())
		}
		return err
	})
	return n, after, err
}

// get reads a row as the system in a caller's transaction.
func (c *companies) get(ctx context.Context, tx *store.Tx, entity string, id any) (row reflect.Value, err error) {
	err = tx.AsSystem(ctx, "test", func(ctx context.Context) error {
		out := call(clients(tx.Client)[entity], "Get", ctx, id)
		row = out[0]
		return asError(out[1])
	})
	return row, err
}
