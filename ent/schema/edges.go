package schema

import (
	"context"
	"fmt"
	"reflect"
	"sync"

	"entgo.io/ent"
	"entgo.io/ent/dialect/sql"

	gen "atrium/ent"
	"atrium/internal/principal"
)

// Loaded remembers the ids that the guarded queries of one transaction returned, so that setting an edge to a row
// which was just loaded needs no second look at the database. Safe for concurrent use.
type loaded struct {
	mu  sync.Mutex
	ids map[string]struct{}
}

type loadedKey struct{}

// RememberLoaded returns a context in which guarded queries note the ids they return. One is made per transaction;
// it must not outlive it.
func RememberLoaded(ctx context.Context) context.Context {
	return context.WithValue(ctx, loadedKey{}, &loaded{ids: make(map[string]struct{}, 8)})
}

// Known notes an id that a loaded row of the company refers to: its composite key proves that it is the company's too.
func Known(ctx context.Context, id string) {
	if l, ok := ctx.Value(loadedKey{}).(*loaded); ok {
		l.add(id)
	}
}

func (l *loaded) add(id string) {
	l.mu.Lock()
	l.ids[id] = struct{}{}
	l.mu.Unlock()
}

func (l *loaded) has(id string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, ok := l.ids[id]
	return ok
}

// rememberLoaded notes the ids of a query's rows in the context's set, when it has one.
func rememberLoaded(next ent.Querier) ent.Querier {
	return ent.QuerierFunc(func(ctx context.Context, q ent.Query) (ent.Value, error) {
		v, err := next.Query(ctx, q)
		seen, ok := ctx.Value(loadedKey{}).(*loaded)
		if err != nil || !ok {
			return v, err
		}
		if p, ok := principal.From(ctx); !ok || p.CompanyID == "" {
			return v, nil
		}
		rows := reflect.ValueOf(v)
		if rows.Kind() != reflect.Slice || rows.Type().Elem().Kind() != reflect.Pointer {
			return v, nil
		}
		for i := range rows.Len() {
			row := rows.Index(i).Elem()
			if row.Kind() != reflect.Struct {
				break
			}
			if id := row.FieldByName("ID"); id.IsValid() && id.Kind() == reflect.String {
				seen.add(id.String())
			}
		}
		return v, nil
	})
}

// guardEdges refuses a mutation that sets an edge to an id which is no row of the company. Edge setters bypass the
// query guard, so this looks each unknown id up once, in one statement per edge.
func guardEdges(ctx context.Context, m ent.Mutation, companyID string) error {
	edges := m.AddedEdges()
	if len(edges) == 0 {
		return nil
	}
	seen, _ := ctx.Value(loadedKey{}).(*loaded)
	for _, edge := range edges {
		var unknown []any
		for _, v := range m.AddedIDs(edge) {
			if s, ok := v.(string); ok && seen != nil && seen.has(s) {
				continue
			}
			unknown = append(unknown, v)
		}
		if len(unknown) == 0 {
			continue
		}
		table, ok := gen.EdgeTables[m.Type()+"."+edge]
		if !ok {
			return fmt.Errorf("tenancy: edge %s.%s is not in the edge table", m.Type(), edge)
		}
		if err := countOwned(ctx, m, table, companyID, unknown); err != nil {
			return err
		}
	}
	return nil
}

// countOwned returns ErrOtherCompany unless all ids are rows of the company in the table.
func countOwned(ctx context.Context, m ent.Mutation, table, companyID string, ids []any) error {
	c, ok := m.(interface{ Client() *gen.Client })
	if !ok {
		return fmt.Errorf("tenancy: %T has no client", m)
	}
	drv := gen.DriverOf(c.Client())
	t := sql.Dialect(drv.Dialect()).Table(table)
	q, args := sql.Dialect(drv.Dialect()).Select(sql.Count("*")).From(t).
		Where(sql.And(sql.EQ(t.C("company_id"), companyID), sql.In(t.C("id"), ids...))).Query()
	var rows sql.Rows
	if err := drv.Query(ctx, q, args, &rows); err != nil {
		return fmt.Errorf("tenancy: look edge ids up: %w", err)
	}
	n, err := sql.ScanInt(rows)
	if cerr := rows.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return fmt.Errorf("tenancy: count edge ids: %w", err)
	}
	if n != len(ids) {
		return ErrOtherCompany
	}
	return nil
}
