package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Consent remembers which scopes a user has allowed an OAuth client.
type Consent struct{ ent.Schema }

// Mixin adds the id, the times and the guard.
func (Consent) Mixin() []ent.Mixin {
	return []ent.Mixin{base{prefix: "cns"}, tenant{unlisted: true}}
}

// Fields of the entity.
func (Consent) Fields() []ent.Field {
	return []ent.Field{
		field.String("user_id").MaxLen(40).Immutable(),
		field.String("client_id").MaxLen(40).Immutable(),
		field.JSON("scopes", []string{}),
	}
}

// Edges of the entity; in the database each is a composite key (company_id, id).
func (Consent) Edges() []ent.Edge {
	return []ent.Edge{
		edge.To("user", User.Type).Field("user_id").Unique().Required().Immutable().Annotations(entsql.OnDelete(entsql.Cascade)),
		edge.To("client", OAuthClient.Type).Field("client_id").Unique().Required().Immutable().Annotations(entsql.OnDelete(entsql.Cascade)),
	}
}

// Indexes beyond those of the mixins.
func (Consent) Indexes() []ent.Index {
	return []ent.Index{index.Fields("company_id", "user_id", "client_id").Unique()}
}
