package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// ExternalIdentity ties a subject of a foreign issuer to a user.
type ExternalIdentity struct{ ent.Schema }

// Mixin adds the id, the times and the guard.
func (ExternalIdentity) Mixin() []ent.Mixin {
	return []ent.Mixin{base{prefix: "ext"}, tenant{unlisted: true}}
}

// Fields of the entity.
func (ExternalIdentity) Fields() []ent.Field {
	return []ent.Field{
		field.String("issuer").MaxLen(400).Immutable(),
		field.String("subject").MaxLen(255).Immutable(),
		field.String("user_id").MaxLen(40).Immutable(),
	}
}

// Edges of the entity; in the database each is a composite key (company_id, id).
func (ExternalIdentity) Edges() []ent.Edge {
	return []ent.Edge{
		edge.To("user", User.Type).Field("user_id").Unique().Required().Immutable().Annotations(entsql.OnDelete(entsql.Cascade)),
	}
}

// Indexes beyond those of the mixins.
func (ExternalIdentity) Indexes() []ent.Index {
	return []ent.Index{index.Fields("company_id", "issuer", "subject").Unique()}
}
