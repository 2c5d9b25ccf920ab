package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// JournalLine is one side of a booking: the lines of one source (an invoice, its payment, a credit) add up to zero. A line
// never changes.
type JournalLine struct{ ent.Schema }

// Mixin adds the id, the times and the guard.
func (JournalLine) Mixin() []ent.Mixin {
	return []ent.Mixin{base{prefix: "jrn"}, tenant{unlisted: true}}
}

// Fields of the entity.
func (JournalLine) Fields() []ent.Field {
	return []ent.Field{
		field.String("source").MaxLen(40).Immutable().Comment("the id of what was booked"),
		field.Enum("account").Values("receivable", "cash", "revenue", "allowance", "credit", "bad_debt").Immutable(),
		field.Int64("amount").Immutable().Comment("cents: a debit is positive, a credit negative"),
	}
}

// Indexes beyond those of the mixins.
func (JournalLine) Indexes() []ent.Index { return []ent.Index{index.Fields("company_id", "source")} }
