package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Grant is what a person has given an OAuth client: the family of the tokens that came from one code. Revoking it ends
// them all.
type Grant struct{ ent.Schema }

// Mixin adds the id, the times and the guard.
func (Grant) Mixin() []ent.Mixin { return []ent.Mixin{base{prefix: "grt"}, tenant{}} }

// Fields of the entity.
func (Grant) Fields() []ent.Field {
	return []ent.Field{
		field.String("user_id").MaxLen(40).Immutable(),
		field.String("client_id").MaxLen(40).Immutable(),
		field.String("sign_in_id").MaxLen(40).Immutable(),
		field.JSON("scopes", []string{}).Immutable(),
		field.JSON("methods", []string{}).Immutable().Comment("amr"),
		field.Time("authenticated_at").Immutable(),
		field.Time("expires_at").Comment("of its last token"),
		field.Time("revoked_at").Optional().Nillable(),
	}
}

// Edges of the entity; in the database each is a composite key (company_id, id).
func (Grant) Edges() []ent.Edge {
	return []ent.Edge{
		edge.To("user", User.Type).Field("user_id").Unique().Required().Immutable().Annotations(entsql.OnDelete(entsql.Cascade)),
	}
}

// Indexes beyond those of the mixins.
func (Grant) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("company_id", "user_id"),
		index.Fields("company_id", "client_id"),
		index.Fields("sign_in_id"),
		index.Fields("expires_at"),
	}
}
