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
func (Invoice) Mixin() []ent.Mixin {
	return []ent.Mixin{base{prefix: "inv", doc: "What a company was asked to pay. Nothing of it changes but its status.", noun: "invoice", final: true, ruled: true}, tenant{}}
}

// Fields of the entity.
func (Invoice) Fields() []ent.Field {
	return []ent.Field{
		field.Int64("number").Immutable().Comment("1, 2, 3, … in a company, without gaps; 0 for a draft").Annotations(shown("INV-000001 and so on, without gaps.", typed("String!"))),
		field.Enum("status").Values("draft", "open", "paid", "uncollectible", "void").Comment("paid when nothing is left to pay").Annotations(shown("How it stands.")),
		field.String("bill_to").MaxLen(800).Default("").Immutable().Comment("the company's name when the invoice was made").Annotations(shown("The company's name when it was made.")),
		field.Time("period_start").Immutable().Annotations(shown("Where the time begins that it is for.")),
		field.Time("period_end").Immutable().Annotations(shown("Where that time ends.")),
		raw(field.JSON("lines", json.RawMessage{}).Immutable().Comment("[{description, amount}], cents").Annotations(shown("What it is made of.", typed("[InvoiceLine!]!")))),
		field.Int64("subtotal").Immutable().Comment("cents; the sum of the lines").Annotations(shown("The sum of the lines, in cents.")),
		field.Int64("credits_applied").Immutable().Comment("cents").Annotations(shown("What was taken from the credits, in cents.")),
		field.Int64("amount_due").Immutable().Comment("cents; never below zero").Annotations(shown("What was left to pay when it was made, in cents; never below zero.")),
		field.Int64("credited").Default(0).Comment("cents; the sum of its credit notes").Annotations(shown("The sum of its credit notes, in cents.", also("creditNotes", "[CreditNote!]!", "The first 200 of them, the oldest first."))),
		field.String("currency").MaxLen(3).Immutable().Annotations(shown("In lower case.", also("pdfUrl", "String!", "Where it is as a PDF file, for whoever may read it and sends the session's cookie, a token or a key. Without .pdf it is a page."))),
		field.Time("next_charge_at").Optional().Nillable().Comment("when the payment provider is asked next; null when it is not to be").Annotations(shown("When it is charged next; null when it is not to be.")),
		field.Time("paid_at").Optional().Nillable().Annotations(shown("When nothing was left to pay any more.")),
	}
}

// Indexes beyond those of the mixins.
func (Invoice) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("company_id", "number").Unique().Annotations(entsql.IndexWhere("number > 0")),
		index.Fields("next_charge_at"),
	}
}
