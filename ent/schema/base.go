package schema

import (
	"context"
	"fmt"
	"slices"

	"entgo.io/ent"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/mixin"

	"atrium/internal/platform/clock"
	"atrium/internal/platform/id"
)

// base gives an entity its prefixed id and its two times, and its line in ent.Entities.
type base struct {
	mixin.Schema
	prefix string   // the public one of the id: "svc"
	doc    string   // of GraphQL's type, which is generated for an entity that has one
	noun   string   // what its id is of: "service"
	final  bool     // callers do not change its rows, so it has no etag
	ruled  bool     // access policies reach its rows
	within []string // columns that name rows to which its rows belong: who may not see those may not see it
}

// Annotations are for the generator.
func (b base) Annotations() []schema.Annotation {
	return []schema.Annotation{About{b.prefix, b.doc, b.noun, b.final, b.ruled, b.within}}
}

// About is what the generator is told of an entity besides its columns.
type About struct {
	Prefix string
	Doc    string
	Noun   string
	Final  bool
	Ruled  bool
	Within []string
}

// Name is where templates find it.
func (About) Name() string { return "About" }

// Fields of every entity.
func (b base) Fields() []ent.Field {
	return []ent.Field{
		field.String("id").MaxLen(40).Immutable().DefaultFunc(func() string { return id.New(b.prefix) }),
		field.Time("created_at").Immutable(),
		field.Time("updated_at"),
	}
}

// Hooks stamp the times from the clock that the context carries.
func (base) Hooks() []ent.Hook { return []ent.Hook{stampTimes} }

func stampTimes(next ent.Mutator) ent.Mutator {
	return ent.MutateFunc(func(ctx context.Context, m ent.Mutation) (ent.Value, error) {
		now := clock.From(ctx).Now()
		if m.Op().Is(ent.OpCreate) {
			if _, given := m.Field("created_at"); !given {
				if err := m.SetField("created_at", now); err != nil {
					return nil, fmt.Errorf("stamp created_at: %w", err)
				}
			}
		}
		if !m.Op().Is(ent.OpDelete|ent.OpDeleteOne) && !onlySightings(m.Fields()) {
			if err := m.SetField("updated_at", now); err != nil {
				return nil, fmt.Errorf("stamp updated_at: %w", err)
			}
		}
		return next.Mutate(ctx, m)
	})
}

// onlySightings reports whether a mutation only notes when or for whom a row was last used, or is used next, which is no change of it.
func onlySightings(fields []string) bool {
	sightings := []string{"last_used_at", "last_seen_at", "last_assignee_id", "next_run_at", "next_at"}
	return len(fields) == 1 && slices.Contains(sightings, fields[0])
}
