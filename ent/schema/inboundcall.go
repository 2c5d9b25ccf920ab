package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// InboundCall is one call of an inbound webhook, as people look at it later. It is kept for a time; the execution that it
// started holds all of it.
type InboundCall struct{ ent.Schema }

// Mixin adds the id, the times and the guard. Calls are listed below their webhook.
func (InboundCall) Mixin() []ent.Mixin {
	return []ent.Mixin{base{prefix: "whc", ruled: true, within: []string{"webhook_id"}}, tenant{unlisted: true}}
}

// Fields of the entity.
func (InboundCall) Fields() []ent.Field {
	return []ent.Field{
		field.String("webhook_id").MaxLen(40).Immutable(),
		field.Enum("outcome").Values("ACCEPTED", "DUPLICATE", "REJECTED", "IGNORED").Immutable(),
		field.String("reason").MaxLen(500).Optional().Nillable().Immutable().Comment("why it was rejected or ignored"),
		field.String("execution_id").MaxLen(40).Optional().Nillable().Immutable().Comment("that the call started, or that the first of its kind did"),
		field.String("replay_of").MaxLen(40).Optional().Nillable().Immutable().Comment("the call that somebody sent again"),
		field.JSON("headers", map[string]string{}).Optional().Immutable().Comment("by lower-case name; what the webhook does not ask for, masked"),
		field.String("body").Default("").Immutable().Comment("the first 16 KiB"),
		field.Int("body_bytes").Default(0).Immutable().Comment("of the whole body"),
	}
}

// Edges of the entity; in the database each is a composite key (company_id, id).
func (InboundCall) Edges() []ent.Edge {
	return []ent.Edge{
		edge.To("webhook", InboundWebhook.Type).Field("webhook_id").Unique().Required().Immutable().Annotations(entsql.OnDelete(entsql.Cascade)),
	}
}

// Indexes beyond those of the mixins: the pages of one webhook's calls, and the sweep's order.
func (InboundCall) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("company_id", "webhook_id", "created_at", "id"),
		index.Fields("created_at", "id"),
	}
}
