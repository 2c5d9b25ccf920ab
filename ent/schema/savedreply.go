package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// SavedReply is a text that staff answer requests with: its name, and what is said, in Markdown.
type SavedReply struct{ ent.Schema }

// Mixin adds the id, the times and the guard.
func (SavedReply) Mixin() []ent.Mixin {
	return []ent.Mixin{base{prefix: "rpl", doc: "A text that staff answer requests with.", noun: "saved reply"}, tenant{}}
}

// Fields of the entity.
func (SavedReply) Fields() []ent.Field {
	return []ent.Field{
		field.String("name").MaxRuneLen(200).Annotations(shown("What people call it.")),
		field.Enum("scope").Values("me", "team", "company").Immutable().Comment("who sees it").Annotations(shown("Who sees it.")),
		field.String("body").MaxRuneLen(10_000).Annotations(shown("What is said, in Markdown. {{request.title}}, {{request.number}}, {{requester.name}} and {{me.name}} stand for what they name.")),
		field.String("user_id").MaxLen(40).Immutable().Annotations(shown("Whoever made it.")),
		field.String("team_id").MaxLen(40).Optional().Nillable().Immutable().Comment("whose members see it; of the scope team alone").Annotations(shown("The team whose members see it.")),
	}
}

// Edges of the entity; in the database each is a composite key (company_id, id).
func (SavedReply) Edges() []ent.Edge {
	return []ent.Edge{
		edge.To("user", User.Type).Field("user_id").Unique().Required().Immutable(),
		edge.To("team", Team.Type).Field("team_id").Unique().Immutable(),
	}
}

// Indexes beyond those of the mixins.
func (SavedReply) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("company_id", "user_id"),
		index.Fields("company_id", "team_id"),
	}
}
