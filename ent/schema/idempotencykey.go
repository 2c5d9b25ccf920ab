package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// IdempotencyKey keeps the first answer to a POST, so that a repetition gets it again without a second effect.
type IdempotencyKey struct{ ent.Schema }

// Mixin adds the id, the times and the guard.
func (IdempotencyKey) Mixin() []ent.Mixin { return []ent.Mixin{base{prefix: "idk"}, tenant{}} }

// Fields of the entity.
func (IdempotencyKey) Fields() []ent.Field {
	return []ent.Field{
		field.String("caller_id").MaxLen(80).Immutable(),
		field.String("key").MaxLen(255).Immutable(),
		field.Bytes("fingerprint").MaxLen(32).Immutable().Comment("SHA-256 of method, path and body"),
		field.Int("status"),
		field.Bytes("body"),
		field.String("resource").MaxLen(40).Optional().Comment("of the row that the answer is about; none for an answer about no row"),
		field.String("row_id").MaxLen(40).Optional(),
		field.JSON("header", map[string]string{}).Optional(),
	}
}

// Indexes beyond those of the mixins.
func (IdempotencyKey) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("company_id", "caller_id", "key").Unique(),
		index.Fields("created_at"),
	}
}
