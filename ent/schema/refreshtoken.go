package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// RefreshToken is one link of a grant's chain. A used one is kept: when it comes again, the grant is revoked.
type RefreshToken struct{ ent.Schema }

// Mixin adds the id, the times and the guard.
func (RefreshToken) Mixin() []ent.Mixin {
	return []ent.Mixin{base{prefix: "rft"}, tenant{unlisted: true}}
}

// Fields of the entity.
func (RefreshToken) Fields() []ent.Field {
	return []ent.Field{
		field.String("grant_id").MaxLen(40).Immutable(),
		field.Bytes("hash").MaxLen(32).Sensitive().Unique().Immutable(),
		field.Time("used_at").Optional().Nillable(),
		field.Time("expires_at").Immutable(),
	}
}

// Edges of the entity; in the database each is a composite key (company_id, id).
func (RefreshToken) Edges() []ent.Edge {
	return []ent.Edge{
		edge.To("grant", Grant.Type).Field("grant_id").Unique().Required().Immutable().Annotations(entsql.OnDelete(entsql.Cascade)),
	}
}

// Indexes beyond those of the mixins.
func (RefreshToken) Indexes() []ent.Index {
	return []ent.Index{index.Fields("company_id", "grant_id"), index.Fields("expires_at")}
}
