package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Payment is one attempt to charge what an invoice leaves to pay. It is written before the provider is asked, with all that it
// is asked for, so that what finds it after a crash asks the same again; its id is the idempotency key.
type Payment struct{ ent.Schema }

// Mixin adds the id, the times and the guard.
func (Payment) Mixin() []ent.Mixin { return []ent.Mixin{base{prefix: "pay"}, tenant{unlisted: true}} }

// Fields of the entity.
func (Payment) Fields() []ent.Field {
	return []ent.Field{
		field.String("invoice_id").MaxLen(40).Immutable(),
		field.Int("attempt").Immutable().Comment("1, 2, 3, … of the invoice"),
		field.Int64("amount").Immutable().Comment("cents"),
		field.String("customer").MaxLen(200).Immutable(),
		field.String("payment_method").MaxLen(200).Immutable(),
		field.Enum("status").Values("pending", "succeeded", "failed").Comment("pending until the provider has said"),
		field.String("reference").MaxLen(200).Default("").Comment("the provider's name for it"),
		field.String("failure").MaxLen(200).Default("").Comment("the provider's code of why it failed"),
		field.Time("settled_at").Optional().Nillable(),
	}
}

// Indexes beyond those of the mixins.
func (Payment) Indexes() []ent.Index {
	return []ent.Index{index.Fields("company_id", "invoice_id", "attempt").Unique()}
}
