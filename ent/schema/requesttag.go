package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// RequestTag is a tag of a request, by which the request is found. Triggers keep it as the request's tags are. It is a table because
// row-level security keeps PostgreSQL from asking an index whether a document holds something.
type RequestTag struct{ ent.Schema }

// Mixin adds the guard.
func (RequestTag) Mixin() []ent.Mixin { return []ent.Mixin{tenant{unlisted: true}} }

// Fields of the entity.
func (RequestTag) Fields() []ent.Field {
	return []ent.Field{
		field.String("request_id").MaxLen(40).Immutable(),
		field.String("key").MaxLen(64).Immutable(),
		field.String("value").MaxRuneLen(256),
	}
}

// Indexes beyond those of the mixins.
func (RequestTag) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("company_id", "key", "value", "request_id").Unique(),
		index.Fields("company_id", "request_id"),
	}
}
