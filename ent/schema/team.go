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
func (Team) Mixin() []ent.Mixin {
	return []ent.Mixin{base{prefix: "team", doc: "A group of users.", noun: "team", ruled: true}, tenant{}}
}

// Fields of the entity.
func (Team) Fields() []ent.Field {
	return []ent.Field{
		field.String("name").MaxRuneLen(200).Annotations(shown("What people call it.", eg("Service desk"))),
		field.String("slug").MaxLen(63).Annotations(shown("Its name in addresses; unique in the company.", eg("service-desk"))),
		field.String("description").Default("").Annotations(shown("What it is for.", typed("String"), eg("First line for everything with a plug"))),
		field.String("organization_id").MaxLen(40).Optional().Nillable().Annotations(shown("The organization that it belongs to.", of("org"), also("memberIds", "[ID!]!", "The users in it, ordered by id.", filled("[]string"), eg(`["usr_01k9ye4ryzf7stj6dqnm8x2v3b"]`)))),
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
