package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
)

// WebhookSubscription is an address outside that gets a company's events.
type WebhookSubscription struct{ ent.Schema }

// Mixin adds the id, the times and the guard.
func (WebhookSubscription) Mixin() []ent.Mixin {
	return []ent.Mixin{base{prefix: "whs", doc: "An address outside that gets the company's events.", noun: "subscription", ruled: true}, tenant{}}
}

// Fields of the entity.
func (WebhookSubscription) Fields() []ent.Field {
	return []ent.Field{
		field.String("url").MaxLen(2000).Annotations(shown("Where deliveries go.")),
		field.JSON("events", []string{}).Annotations(shown("The events that it asks for.")),
		field.String("description").MaxRuneLen(2000).Optional().Annotations(shown("What it is for.", typed("String"))),
		field.Bytes("secret_sealed").Sensitive(),
		field.Bytes("previous_sealed").Sensitive().Optional().Comment("the secret before, which still signs until previous_until"),
		field.Bool("enabled").Default(true).Annotations(shown("Whether events are sent.")),
		field.String("disabled_reason").MaxLen(200).Optional().Nillable().Annotations(shown("Why it was disabled; null while it is enabled.")),
		field.Time("failing_since").Optional().Nillable().Comment("the first failure after the last success").Annotations(shown("Since when no delivery has succeeded; null while they do.")),
		field.Time("previous_until").Optional().Nillable().Annotations(shown("Until when deliveries carry a second signature, by the secret before; null without one.")),
		field.String("created_by").MaxLen(40).Immutable().Annotations(shown("The user who made it.", typed("ID!"))),
	}
}
