package schema

import (
	"encoding/json"

	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Invoice is what a company was asked to pay. Nothing of it changes but how it stands.
type Invoice struct{ ent.Schema }

// Mixin adds the id, the times and the guard.
func (Invoice) Mixin() []ent.Mixin { return []ent.Mixin{base{prefix: "inv", ruled: true}, tenant{}} }

// Fields of the entity.
func (Invoice) Fields() []ent.Field {
	return []ent.Field{
		field.Int64("number").Immutable().Comment("1, 2, 3, … in a company, without gaps"),
		field.Enum("status").Values("open", "paid").Comment("paid when nothing is left to pay"),
		field.Time("period_start").Immutable(),
		field.Time("period_end").Immutable(),
		field.JSON("lines", json.RawMessage{}).Immutable().Comment("[{description, amount}], cents"),
		field.Int64("subtotal").Immutable().Comment("cents; the sum of the lines"),
		field.Int64("credits_applied").Immutable().Comment("cents"),
		field.Int64("amount_due").Immutable().Comment("cents; never below zero"),
		field.String("currency").MaxLen(3).Immutable(),
		field.Time("paid_at").Optional().Nillable(),
	}
}

// Indexes beyond those of the mixins.
func (Invoice) Indexes() []ent.Index {
	return []ent.Index{index.Fields("company_id", "number").Unique()}
}
