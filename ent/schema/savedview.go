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
func (SavedView) Mixin() []ent.Mixin {
	return []ent.Mixin{base{prefix: "viw", doc: "A list of requests that people come back to.", noun: "view"}, tenant{}}
}

// Fields of the entity.
func (SavedView) Fields() []ent.Field {
	return []ent.Field{
		field.String("name").MaxRuneLen(200).Annotations(shown("What people call it.")),
		field.Enum("scope").Values("me", "team", "company").Immutable().Comment("who sees it").Annotations(shown("Who sees it.")),
		field.String("query").MaxLen(4096).Default("").Annotations(shown("What stands in the address of the list, such as status=PENDING&sort=-createdAt.")),
		field.String("user_id").MaxLen(40).Immutable().Annotations(shown("Whoever made it.")),
		field.String("team_id").MaxLen(40).Optional().Nillable().Immutable().Comment("whose members see it; of the scope team alone").Annotations(shown("The team whose members see it.")),
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
