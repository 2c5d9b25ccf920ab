package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// SavedView is a list of requests that people come back to: its name, and the query of its address.
type SavedView struct{ ent.Schema }

// Mixin adds the id, the times and the guard.
func (SavedView) Mixin() []ent.Mixin { return []ent.Mixin{base{prefix: "viw"}, tenant{}} }

// Fields of the entity.
func (SavedView) Fields() []ent.Field {
	return []ent.Field{
		field.String("name").MaxRuneLen(200),
		field.Enum("scope").Values("me", "team", "company").Immutable().Comment("who sees it"),
		field.String("query").MaxLen(4096).Default(""),
		field.String("user_id").MaxLen(40).Immutable(),
		field.String("team_id").MaxLen(40).Optional().Nillable().Immutable().Comment("whose members see it; of the scope team alone"),
	}
}

// Edges of the entity; in the database each is a composite key (company_id, id).
func (SavedView) Edges() []ent.Edge {
	return []ent.Edge{
		edge.To("user", User.Type).Field("user_id").Unique().Required().Immutable(),
		edge.To("team", Team.Type).Field("team_id").Unique().Immutable(),
	}
}

// Indexes beyond those of the mixins.
func (SavedView) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("company_id", "user_id"),
		index.Fields("company_id", "team_id"),
	}
}
