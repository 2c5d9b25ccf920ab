package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
)

// APIKey is a credential for server-to-server calls. Only the SHA-256 of its value is kept.
type APIKey struct{ ent.Schema }

// Mixin adds the id, the times and the guard.
func (APIKey) Mixin() []ent.Mixin { return []ent.Mixin{base{prefix: "key", ruled: true}, tenant{}} }

// Fields of the entity.
func (APIKey) Fields() []ent.Field {
	return []ent.Field{
		field.String("name").MaxRuneLen(200),
		field.Bytes("hash").MaxLen(32).Sensitive().Immutable().Unique(),
		field.String("prefix").MaxLen(9).Immutable(),
		field.String("last4").MaxLen(4).Immutable(),
		field.JSON("scopes", []string{}).Immutable(),
		field.Bool("test").Immutable(),
		field.String("user_id").MaxLen(40).Optional().Nillable().Immutable(),
		field.String("service_account_id").MaxLen(40).Optional().Nillable().Immutable(),
		field.String("agent_id").MaxLen(40).Optional().Nillable().Immutable(),
		field.JSON("allowed_ips", []string{}).Optional().Comment("addresses and CIDR prefixes; empty means any"),
		field.String("created_by").MaxLen(40).Immutable(),
		field.Time("expires_at").Optional().Nillable(),
		field.Time("revoked_at").Optional().Nillable(),
		field.Time("last_used_at").Optional().Nillable(),
	}
}

// Edges of the entity; in the database each is a composite key (company_id, id).
func (APIKey) Edges() []ent.Edge {
	return []ent.Edge{
		edge.To("user", User.Type).Field("user_id").Unique().Immutable(),
		edge.To("service_account", ServiceAccount.Type).Field("service_account_id").Unique().Immutable(),
		edge.To("agent", Agent.Type).Field("agent_id").Unique().Immutable().Annotations(entsql.OnDelete(entsql.Cascade)),
	}
}

// Annotations name the table.
func (APIKey) Annotations() []schema.Annotation {
	return []schema.Annotation{entsql.Annotation{Table: "api_keys"}}
}
