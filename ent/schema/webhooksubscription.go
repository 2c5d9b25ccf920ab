package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
)

// WebhookSubscription is an address outside that gets a company's events.
type WebhookSubscription struct{ ent.Schema }

// Mixin adds the id, the times and the guard.
func (WebhookSubscription) Mixin() []ent.Mixin {
	return []ent.Mixin{base{prefix: "whs", ruled: true}, tenant{}}
}

// Fields of the entity.
func (WebhookSubscription) Fields() []ent.Field {
	return []ent.Field{
		field.String("url").MaxLen(2000),
		field.JSON("events", []string{}),
		field.String("description").MaxRuneLen(2000).Optional(),
		field.Bytes("secret_sealed").Sensitive(),
		field.Bytes("previous_sealed").Sensitive().Optional().Comment("the secret before, which still signs until previous_until"),
		field.Time("previous_until").Optional().Nillable(),
		field.Bool("enabled").Default(true),
		field.String("disabled_reason").MaxLen(200).Optional().Nillable(),
		field.Time("failing_since").Optional().Nillable().Comment("the first failure after the last success"),
		field.String("created_by").MaxLen(40).Immutable(),
	}
}
