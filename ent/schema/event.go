package schema

import (
	"encoding/json"

	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Event is an outbox row: something that happened, with the payload that subscribers will get, written in the transaction that made it happen.
type Event struct{ ent.Schema }

// Mixin adds the id, the times and the guard.
func (Event) Mixin() []ent.Mixin { return []ent.Mixin{base{prefix: "evt"}, tenant{}} }

// Fields of the entity.
func (Event) Fields() []ent.Field {
	return []ent.Field{
		field.String("type").MaxLen(40).Immutable(),
		field.String("subject_id").MaxLen(40).Immutable(),
		field.Int64("sequence").Optional().Immutable().Comment("of its subject's events, from 1; null for those from before there were numbers"),
		raw(field.JSON("payload", json.RawMessage{}).Comment("an erasure alone changes it")),
	}
}

// Indexes beyond those of the mixins.
func (Event) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("company_id", "type", "created_at", "id"),
		index.Fields("company_id", "subject_id"),
	}
}
