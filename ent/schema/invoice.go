package schema

import (
	"encoding/json"

	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Invoice is what a company was asked to pay. Nothing of it changes but how it stands: a draft that is issued is deleted, and
// the invoice made in its place under its id.
type Invoice struct{ ent.Schema }

// Mixin adds the id, the times and the guard.
func (Invoice) Mixin() []ent.Mixin { return []ent.Mixin{base{prefix: "inv", ruled: true}, tenant{}} }

// Fields of the entity.
func (Invoice) Fields() []ent.Field {
	return []ent.Field{
		field.Int64("number").Immutable().Comment("1, 2, 3, … in a company, without gaps; 0 for a draft"),
		field.Enum("status").Values("draft", "open", "paid", "uncollectible", "void").Comment("paid when nothing is left to pay"),
		field.String("bill_to").MaxLen(800).Default("").Immutable().Comment("the company's name when the invoice was made"),
		field.Time("period_start").Immutable(),
		field.Time("period_end").Immutable(),
		field.JSON("lines", json.RawMessage{}).Immutable().Comment("[{description, amount}], cents"),
		field.Int64("subtotal").Immutable().Comment("cents; the sum of the lines"),
		field.Int64("credits_applied").Immutable().Comment("cents"),
		field.Int64("amount_due").Immutable().Comment("cents; never below zero"),
		field.String("currency").MaxLen(3).Immutable(),
		field.Int64("credited").Default(0).Comment("cents; the sum of its credit notes"),
		field.Time("paid_at").Optional().Nillable(),
		field.Time("next_charge_at").Optional().Nillable().Comment("when the payment provider is asked next; null when it is not to be"),
	}
}

// Indexes beyond those of the mixins.
func (Invoice) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("company_id", "number").Unique().Annotations(entsql.IndexWhere("number > 0")),
		index.Fields("next_charge_at"),
	}
}
