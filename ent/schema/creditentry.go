package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// CreditEntry is one line of the credit ledger, in cents: positive when issued, negative when applied or forfeited. A line
// never changes.
type CreditEntry struct{ ent.Schema }

// Mixin adds the id, the times and the guard.
func (CreditEntry) Mixin() []ent.Mixin {
	return []ent.Mixin{base{prefix: "crd"}, tenant{unlisted: true}}
}

// Fields of the entity.
func (CreditEntry) Fields() []ent.Field {
	return []ent.Field{
		field.Enum("type").Values("issued", "applied", "forfeited").Immutable(),
		field.Int64("amount").Immutable().Comment("cents"),
		field.Enum("reason").Values("downgrade", "disruption", "promotion", "adjustment", "enterprise", "invoice", "cancellation").Immutable(),
		field.String("description").MaxRuneLen(500).Immutable(),
		field.String("invoice_id").MaxLen(40).Optional().Nillable().Immutable(),
		field.Int64("number").Immutable().Annotations(entsql.DefaultExpr("0")).Comment("1, 2, 3, … in a company, in the order in which the entries were made"),
		field.Int64("balance").Immutable().Annotations(entsql.DefaultExpr("0")).Comment("cents; what was left after the entry"),
		field.Int64("drawn_from").Optional().Nillable().Immutable().Comment("the number of the issued entry that an applied one draws on"),
	}
}

// Indexes beyond those of the mixins: the history, and credits in the order in which they are used.
func (CreditEntry) Indexes() []ent.Index {
	return []ent.Index{index.Fields("company_id", "number").Unique(), index.Fields("company_id", "type", "number")}
}
