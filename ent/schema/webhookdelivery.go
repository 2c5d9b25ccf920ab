package schema

import (
	"encoding/json"

	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// WebhookDelivery is one event on its way to one subscription, with every attempt that was made. On PostgreSQL the table is
// partitioned by the id; the migrations say so, and internal/webhook makes and drops the partitions.
type WebhookDelivery struct{ ent.Schema }

// Mixin adds the id, the times and the guard.
func (WebhookDelivery) Mixin() []ent.Mixin {
	return []ent.Mixin{base{prefix: "whd", ruled: true}, tenant{}}
}

// Fields of the entity.
func (WebhookDelivery) Fields() []ent.Field {
	return []ent.Field{
		field.String("subscription_id").MaxLen(40).Immutable(),
		field.String("event_id").MaxLen(40).Immutable(),
		field.String("event").MaxLen(40).Immutable().Comment("the event's name"),
		field.Enum("outcome").Values("PENDING", "SUCCESS", "FAILED").Default("PENDING"),
		field.Int("retry_count").Default(0),
		field.Time("next_attempt_at").Optional().Nillable(),
		raw(field.JSON("attempts", json.RawMessage{}).Optional().Comment("[{at, statusCode, responseBody, latencyMs, error}], the first first")),
	}
}

// Edges of the entity; in the database each is a composite key (company_id, id).
func (WebhookDelivery) Edges() []ent.Edge {
	return []ent.Edge{
		edge.To("subscription", WebhookSubscription.Type).Field("subscription_id").Unique().Required().Immutable().Annotations(entsql.OnDelete(entsql.Cascade)),
		edge.To("source", Event.Type).Field("event_id").Unique().Required().Immutable().Annotations(entsql.OnDelete(entsql.Cascade)),
	}
}

// Indexes beyond those of the mixins: one for each way to filter the history, in the order of its pages, so that no page
// of ten million rows is sorted; by event for what is sent again and swept; and by when rows changed, which feeds and the
// sweep go by.
func (WebhookDelivery) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("company_id", "subscription_id", "created_at", "id"),
		index.Fields("company_id", "outcome", "created_at", "id"),
		index.Fields("company_id", "subscription_id", "outcome", "created_at", "id").StorageKey("webhookdelivery_company_id_subscription_id_outcome"),
		index.Fields("company_id", "event_id"),
		index.Fields("updated_at", "id"),
	}
}
