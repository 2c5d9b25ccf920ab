package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Watcher is a user who hears of what becomes of a request.
type Watcher struct{ ent.Schema }

// Mixin adds the id, the times and the guard.
func (Watcher) Mixin() []ent.Mixin {
	return []ent.Mixin{base{prefix: "wat", within: []string{"request_id", "user_id"}}, tenant{unlisted: true}}
}

// Fields of the entity.
func (Watcher) Fields() []ent.Field {
	return []ent.Field{
		field.String("request_id").MaxLen(40).Immutable(),
		field.String("user_id").MaxLen(40).Immutable(),
	}
}

// Edges of the entity; in the database each is a composite key (company_id, id).
func (Watcher) Edges() []ent.Edge {
	return []ent.Edge{
		edge.To("request", Request.Type).Field("request_id").Unique().Required().Immutable(),
		edge.To("user", User.Type).Field("user_id").Unique().Required().Immutable(),
	}
}

// Indexes beyond those of the mixins.
func (Watcher) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("company_id", "request_id", "user_id").Unique(),
		index.Fields("company_id", "user_id", "request_id"),
	}
}
