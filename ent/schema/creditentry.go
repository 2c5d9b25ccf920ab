package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
)

// CreditEntry is one line of the credit ledger, in cents: positive when issued, negative when applied.
type CreditEntry struct{ ent.Schema }

// Mixin adds the id, the times and the guard.
func (CreditEntry) Mixin() []ent.Mixin { return []ent.Mixin{base{prefix: "crd"}, tenant{}} }

// Fields of the entity.
func (CreditEntry) Fields() []ent.Field {
	return []ent.Field{
		field.Enum("type").Values("issued", "applied").Immutable(),
		field.Int64("amount").Immutable().Comment("cents"),
		field.Enum("reason").Values("downgrade", "disruption", "promotion", "adjustment", "enterprise", "invoice").Immutable(),
		field.String("description").MaxRuneLen(500).Immutable(),
		field.String("invoice_id").MaxLen(40).Optional().Nillable().Immutable(),
	}
}
