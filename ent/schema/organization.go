package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Organization is a node of the company's own structure, such as a division.
type Organization struct{ ent.Schema }

// Mixin adds the id, the times and the guard.
func (Organization) Mixin() []ent.Mixin {
	return []ent.Mixin{base{prefix: "org", doc: "A node of the company's own structure, such as a division.", noun: "organization", ruled: true}, tenant{}}
}

// Fields of the entity.
func (Organization) Fields() []ent.Field {
	return []ent.Field{
		field.String("name").MaxRuneLen(200).Annotations(shown("What people call it.", eg("Berlin office"))),
		field.String("slug").MaxLen(63).Annotations(shown("Its name in addresses; unique in the company.", eg("berlin-office"))),
		field.String("parent_id").MaxLen(40).Optional().Nillable().Annotations(shown("The organization that it is part of.", of("org"))),
		field.JSON("tags", map[string]string{}).Optional().Annotations(shown("Texts by key, for access policies.", eg(`{"site": "berlin"}`))),
	}
}

// Edges of the entity; in the database each is a composite key (company_id, id).
func (Organization) Edges() []ent.Edge {
	return []ent.Edge{
		edge.To("children", Organization.Type).From("parent").Field("parent_id").Unique(),
	}
}

// Indexes beyond those of the mixins.
func (Organization) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("company_id", "slug").Unique(),
		index.Fields("company_id", "name", "id"),
		index.Fields("company_id", "updated_at", "id"),
		index.Fields("company_id", "parent_id"),
	}
}
