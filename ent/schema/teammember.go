package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// TeamMember puts a user into a team.
type TeamMember struct{ ent.Schema }

// Mixin adds the id, the times and the guard.
func (TeamMember) Mixin() []ent.Mixin {
	return []ent.Mixin{base{prefix: "tm", within: []string{"team_id", "user_id"}}, tenant{}}
}

// Fields of the entity.
func (TeamMember) Fields() []ent.Field {
	return []ent.Field{
		field.String("team_id").MaxLen(40).Immutable(),
		field.String("user_id").MaxLen(40).Immutable(),
	}
}

// Edges of the entity; in the database each is a composite key (company_id, id).
func (TeamMember) Edges() []ent.Edge {
	return []ent.Edge{
		edge.To("team", Team.Type).Field("team_id").Unique().Required().Immutable().Annotations(entsql.OnDelete(entsql.Cascade)),
		edge.To("user", User.Type).Field("user_id").Unique().Required().Immutable().Annotations(entsql.OnDelete(entsql.Cascade)),
	}
}

// Indexes beyond those of the mixins.
func (TeamMember) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("company_id", "team_id", "user_id").Unique(),
		index.Fields("company_id", "user_id"),
	}
}
