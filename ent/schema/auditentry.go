package schema

import (
	"encoding/json"

	"entgo.io/ent"
	"entgo.io/ent/dialect"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// AuditEntry says who did what to which resource, and how it ended. The database refuses to change or delete one.
type AuditEntry struct{ ent.Schema }

// Mixin adds the id, the times and the guard.
func (AuditEntry) Mixin() []ent.Mixin { return []ent.Mixin{base{prefix: "aud", ruled: true}, tenant{}} }

// Fields of the entity.
func (AuditEntry) Fields() []ent.Field {
	return []ent.Field{
		field.String("actor_type").MaxLen(20).Immutable(),
		field.String("actor_id").MaxLen(40).Immutable(),
		field.String("actor_name").MaxRuneLen(200).Immutable(),
		field.String("action").MaxLen(64).Immutable(),
		field.String("resource_type").MaxLen(40).Immutable(),
		field.String("resource_id").MaxLen(64).Immutable().Optional().Nillable(),
		field.Enum("outcome").Values("allowed", "denied", "failed").Immutable(),
		field.String("ip").MaxLen(45).Immutable(),
		field.String("user_agent").MaxRuneLen(300).Immutable(),
		field.String("request_id").MaxLen(64).Immutable(),
		field.JSON("changes", json.RawMessage{}).Optional().Immutable().SchemaType(map[string]string{dialect.Postgres: "json"}).Comment("{field: {from, to}}, with the digits of numbers as they were sent"),
	}
}

// Indexes beyond those of the mixins.
func (AuditEntry) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("company_id", "actor_id", "created_at", "id"),
		index.Fields("company_id", "action", "created_at", "id"),
		index.Fields("company_id", "resource_id", "created_at", "id"),
		index.Fields("company_id", "resource_type", "created_at", "id"),
	}
}
