package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// RecoveryCode lets a person in who has lost the second factor, once.
type RecoveryCode struct{ ent.Schema }

// Mixin adds the id, the times and the guard.
func (RecoveryCode) Mixin() []ent.Mixin { return []ent.Mixin{base{prefix: "rec"}, global{}} }

// Fields of the entity.
func (RecoveryCode) Fields() []ent.Field {
	return []ent.Field{
		field.String("account_id").MaxLen(40).Immutable(),
		field.Bytes("hash").MaxLen(32).Sensitive().Immutable().Comment("SHA-256 of account and code"),
		field.Time("used_at").Optional().Nillable(),
	}
}

// Indexes beyond those of the mixins.
func (RecoveryCode) Indexes() []ent.Index {
	return []ent.Index{index.Fields("account_id", "hash").Unique()}
}
