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
func (APIKey) Mixin() []ent.Mixin {
	return []ent.Mixin{base{prefix: "key", doc: "A credential for calls from server to server. Its value is shown once, when it is made.", noun: "key", final: true, ruled: true}, tenant{}}
}

// Fields of the entity.
func (APIKey) Fields() []ent.Field {
	return []ent.Field{
		field.String("name").MaxRuneLen(200).Annotations(shown("What people call it.")),
		field.Bytes("hash").MaxLen(32).Sensitive().Immutable().Unique(),
		field.String("prefix").MaxLen(9).Immutable().Annotations(shown("What its value begins with: key_live_ or key_test_.")),
		field.String("last4").MaxLen(4).Immutable().Annotations(shown("The last four characters of its value.")),
		field.JSON("scopes", []string{}).Immutable().Annotations(shown("What it may be used for.")),
		field.Bool("test").Immutable().Annotations(shown("It reaches the sandbox and nothing else.", also("status", "ApiKeyStatus!", "Whether it works."))),
		field.JSON("allowed_ips", []string{}).Optional().Comment("addresses and CIDR prefixes; empty means any").Annotations(shown("The addresses and CIDR prefixes that it works from; anywhere without them.")),
		field.String("user_id").MaxLen(40).Optional().Nillable().Immutable().Annotations(shown("The user who stands behind it.")),
		field.String("service_account_id").MaxLen(40).Optional().Nillable().Immutable().Annotations(shown("The service account that stands behind it.")),
		field.String("agent_id").MaxLen(40).Optional().Nillable().Immutable().Annotations(shown("The agent that stands behind it.")),
		field.String("created_by").MaxLen(40).Immutable().Annotations(shown("The user who made it.", typed("ID!"))),
		field.Time("expires_at").Optional().Nillable().Annotations(shown("When it ends; null for never.")),
		field.Time("revoked_at").Optional().Nillable().Annotations(shown("When it was revoked.")),
		field.Time("last_used_at").Optional().Nillable().Annotations(shown("When it was last used.")),
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
