package schema

import (
	"encoding/json"

	"entgo.io/ent"
	"entgo.io/ent/dialect"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// AuditEntry says who did what to which resource, and how it ended. The database refuses to delete one, and to change one but
// for two things: what is personal may be erased, with its seal left as a commitment, and an entry from before there were
// leaves gets its own.
type AuditEntry struct{ ent.Schema }

// Mixin adds the id, the times and the guard.
func (AuditEntry) Mixin() []ent.Mixin { return []ent.Mixin{base{prefix: "aud", ruled: true}, tenant{}} }

// Fields of the entity.
func (AuditEntry) Fields() []ent.Field {
	return []ent.Field{
		field.String("actor_type").MaxLen(20).Immutable(),
		field.String("actor_id").MaxLen(40).Immutable(),
		field.String("actor_name").MaxRuneLen(200),
		field.String("action").MaxLen(64).Immutable(),
		field.String("resource_type").MaxLen(40).Immutable(),
		field.String("resource_id").MaxLen(64).Immutable().Optional().Nillable(),
		field.Enum("outcome").Values("allowed", "denied", "failed").Immutable(),
		field.String("ip").MaxLen(45),
		field.String("user_agent").MaxRuneLen(300),
		field.String("request_id").MaxLen(64).Immutable(),
		raw(field.JSON("changes", json.RawMessage{}).Optional().SchemaType(map[string]string{dialect.Postgres: "json"}).Comment("{field: {from, to}}, with the digits of numbers as they were sent")),
		field.Bytes("actor_seal").MaxLen(80).Optional().Comment("salt of the commitment to name, address and program; once they are erased, the commitment and the entry that says so"),
		field.Bytes("changes_seal").MaxLen(80).Optional().Comment("the same for the changes"),
		field.Bytes("leaf_hash").MaxLen(32).Optional().Comment("of the entry's leaf in the company's Merkle log; none until it has one"),
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
