package schema

import (
	"context"
	"errors"
	"fmt"

	"entgo.io/ent"
	"entgo.io/ent/dialect/sql"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
	"entgo.io/ent/schema/mixin"

	"atrium/ent/intercept"
	"atrium/internal/platform/principal"
)

// ErrNoPrincipal is what every guarded statement returns when the context carries nobody.
var ErrNoPrincipal = errors.New("tenancy: no principal in the context")

// ErrOtherCompany is what a mutation returns that would write or reference a row of another company.
var ErrOtherCompany = errors.New("tenancy: row of another company")

// tenant binds an entity to one company: company_id is stamped on create, every query, update and delete is
// narrowed to the caller's company, ids of other companies are refused as edges, and without a principal nothing
// runs. principal.System stands outside of it.
type tenant struct {
	mixin.Schema
	unlisted bool // no (company_id, created_at, id) index: nobody pages through it
}

// Fields of a tenant-owned entity.
func (tenant) Fields() []ent.Field {
	return []ent.Field{field.String("company_id").MaxLen(40).Immutable()}
}

// Indexes that list pages of a tenant-owned entity walk.
func (t tenant) Indexes() []ent.Index {
	if t.unlisted {
		return nil
	}
	return []ent.Index{index.Fields("company_id", "created_at", "id")}
}

// Hooks guard writes.
func (tenant) Hooks() []ent.Hook { return []ent.Hook{guardWrites("company_id")} }

// Interceptors guard reads.
func (tenant) Interceptors() []ent.Interceptor { return guardReads("company_id") }

// self guards the company entity: a caller sees the row of its own company only, and makes none.
type self struct{ mixin.Schema }

// Hooks guard writes.
func (self) Hooks() []ent.Hook { return []ent.Hook{guardWrites("id")} }

// Interceptors guard reads.
func (self) Interceptors() []ent.Interceptor { return guardReads("id") }

// global guards entities that belong to no company: only principal.System touches them.
type global struct{ mixin.Schema }

// Hooks guard writes.
func (global) Hooks() []ent.Hook { return []ent.Hook{guardWrites("")} }

// Interceptors guard reads.
func (global) Interceptors() []ent.Interceptor { return guardReads("") }

// guardReads narrows every query to column = the caller's company, and to the rows that its policies let the caller
// read; an empty column lets only the system through.
func guardReads(column string) []ent.Interceptor {
	narrow := intercept.TraverseFunc(func(ctx context.Context, q intercept.Query) error {
		p, ok := principal.From(ctx)
		if !ok {
			return ErrNoPrincipal
		}
		if _, bypass := p.Bypass(); bypass {
			return nil
		}
		if column == "" || p.CompanyID == "" {
			return ErrOtherCompany
		}
		q.WhereP(sql.FieldEQ(column, p.CompanyID))
		if visible := p.Narrow(q.Type()); visible != nil {
			q.WhereP(visible)
		}
		return nil
	})
	return []ent.Interceptor{narrow, ent.InterceptFunc(bound), ent.InterceptFunc(rememberLoaded)}
}

// bound runs a query that access policies narrow within the bounds that its caller has for those.
func bound(next ent.Querier) ent.Querier {
	return ent.QuerierFunc(func(ctx context.Context, q ent.Query) (ent.Value, error) {
		p, ok := principal.From(ctx)
		if !ok {
			return next.Query(ctx, q)
		}
		of, err := intercept.NewQuery(q)
		if err != nil {
			return nil, fmt.Errorf("bound a query: %w", err)
		}
		within, leave, err := p.Enter(ctx, of.Type())
		if err != nil {
			return nil, err
		}
		defer leave()
		return next.Query(within, q)
	})
}

// guardWrites stamps column on create and narrows updates and deletes by it.
func guardWrites(column string) ent.Hook {
	return func(next ent.Mutator) ent.Mutator {
		return ent.MutateFunc(func(ctx context.Context, m ent.Mutation) (ent.Value, error) {
			p, ok := principal.From(ctx)
			if !ok {
				return nil, ErrNoPrincipal
			}
			if _, bypass := p.Bypass(); bypass {
				return next.Mutate(ctx, m)
			}
			if column == "" || p.CompanyID == "" {
				return nil, ErrOtherCompany
			}
			if m.Op().Is(ent.OpCreate) {
				if err := stampCompany(m, column, p.CompanyID); err != nil {
					return nil, err
				}
			} else {
				narrow, ok := m.(interface{ WhereP(...func(*sql.Selector)) })
				if !ok {
					return nil, fmt.Errorf("tenancy: %T cannot be narrowed", m)
				}
				narrow.WhereP(sql.FieldEQ(column, p.CompanyID))
			}
			if err := guardEdges(ctx, m, p.CompanyID); err != nil {
				return nil, err
			}
			v, err := next.Mutate(ctx, m)
			if err == nil && m.Op().Is(ent.OpCreate) {
				rememberMade(ctx, m)
			}
			return v, err
		})
	}
}

// stampCompany sets the owner of a new row, and refuses one that names another company.
func stampCompany(m ent.Mutation, column, companyID string) error {
	if column == "id" {
		return ErrOtherCompany // companies are made by the system alone
	}
	if v, given := m.Field(column); given {
		if v != companyID {
			return ErrOtherCompany
		}
		return nil
	}
	if err := m.SetField(column, companyID); err != nil {
		return fmt.Errorf("stamp %s: %w", column, err)
	}
	return nil
}
