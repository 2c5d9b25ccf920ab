package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// CreditNote corrects an invoice, which itself never changes: it takes off what is left to pay, and gives the rest as a credit.
// A note never changes.
type CreditNote struct{ ent.Schema }

// Mixin adds the id, the times and the guard.
func (CreditNote) Mixin() []ent.Mixin {
	return []ent.Mixin{base{prefix: "crn"}, tenant{unlisted: true}}
}

// Fields of the entity.
func (CreditNote) Fields() []ent.Field {
	return []ent.Field{
		field.Int64("number").Immutable().Comment("1, 2, 3, … in a company, without gaps"),
		field.String("invoice_id").MaxLen(40).Immutable(),
		field.String("bill_to").MaxLen(800).Immutable().Comment("the company's name when the note was made"),
		field.String("description").MaxRuneLen(500).Immutable(),
		field.Int64("amount").Immutable().Comment("cents; what was left to pay went down by this, less what was credited"),
		field.Int64("credited").Immutable().Comment("cents; the part that was issued as a credit"),
	}
}

// Indexes beyond those of the mixins.
func (CreditNote) Indexes() []ent.Index {
	return []ent.Index{index.Fields("company_id", "number").Unique(), index.Fields("company_id", "invoice_id")}
}
