package schema

import (
	"encoding/json"

	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// BillingAccount is what a live company owes and owns at this moment: its subscription's period, and where its credits stand.
// It is the one row that everything which moves money locks. All of it but the period follows from the entries and invoices.
type BillingAccount struct{ ent.Schema }

// Mixin adds the id, the times and the guard.
func (BillingAccount) Mixin() []ent.Mixin {
	return []ent.Mixin{base{prefix: "bil"}, tenant{unlisted: true}}
}

// Fields of the entity.
func (BillingAccount) Fields() []ent.Field {
	return []ent.Field{
		field.Time("anchor_at").Optional().Nillable().Comment("when the paid subscription began; periods are counted from it; null without one"),
		field.Time("period_start_at").Optional().Nillable(),
		field.Time("period_end_at").Optional().Nillable(),
		raw(field.JSON("parts", json.RawMessage{}).Optional().Comment("{until, parts: [{invoiceId, upTo}]}: which invoices of the period bill which part of the plan's price")),
		field.Time("forfeit_at").Optional().Nillable().Comment("when what is left of the credits is lost; null unless cancelled"),
		field.Time("due_at").Optional().Nillable().Comment("when the account has to be looked at: the end of the period or the loss of the credits"),
		field.Int64("balance").Default(0).Comment("cents; the sum of the credit entries"),
		field.Int64("entries").Default(0).Comment("how many credit entries there are: the number of the newest"),
		field.Int64("drawn_entry").Default(0).Comment("the number of the issued credit that is drawn on; those before it are used up"),
		field.Int64("drawn_amount").Default(0).Comment("cents of that credit that are used up"),
		field.Int64("invoices").Default(0).Comment("how many invoices there are: the number of the newest"),
		field.Int64("credit_notes").Default(0).Comment("how many credit notes there are: the number of the newest"),
		field.String("customer").MaxLen(200).Default("").Comment("the payment provider's name for the company; empty where nobody charges it"),
		field.String("payment_method").MaxLen(200).Default("").Comment("the provider's name for what is charged"),
	}
}

// Indexes beyond those of the mixins. That a company has one account is up to the code that makes the company.
func (BillingAccount) Indexes() []ent.Index {
	return []ent.Index{index.Fields("company_id"), index.Fields("due_at")}
}
