package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Team is a group of users.
type Team struct{ ent.Schema }

// Mixin adds the id, the times and the guard.
func (Team) Mixin() []ent.Mixin { return []ent.Mixin{base{prefix: "team", ruled: true}, tenant{}} }

// Fields of the entity.
func (Team) Fields() []ent.Field {
	return []ent.Field{
		field.String("name").MaxRuneLen(200),
		field.String("slug").MaxLen(63),
		field.String("description").Default(""),
		field.String("organization_id").MaxLen(40).Optional().Nillable(),
	}
}

// Edges of the entity; in the database each is a composite key (company_id, id).
func (Team) Edges() []ent.Edge {
	return []ent.Edge{
		edge.To("organization", Organization.Type).Field("organization_id").Unique(),
		edge.From("members", TeamMember.Type).Ref("team"),
	}
}

// Indexes beyond those of the mixins.
func (Team) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("company_id", "slug").Unique(),
		index.Fields("company_id", "name", "id"),
		index.Fields("company_id", "updated_at", "id"),
		index.Fields("company_id", "organization_id"),
	}
}
