package schema

import (
	"encoding/json"

	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Notification tells one person of something that waits for them.
type Notification struct{ ent.Schema }

// Mixin adds the id, the times and the guard.
func (Notification) Mixin() []ent.Mixin {
	return []ent.Mixin{base{prefix: "ntf"}, tenant{unlisted: true}}
}

// Fields of the entity.
func (Notification) Fields() []ent.Field {
	return []ent.Field{
		field.String("user_id").MaxLen(40).Immutable(),
		field.Enum("kind").Values("mention", "progress", "assigned", "approval", "consulted", "informed", "incident", "warning", "breached").Immutable(),
		field.String("subject").MaxRuneLen(300).Immutable(),
		field.String("request_id").MaxLen(40).Optional().Nillable().Immutable(),
		field.String("execution_id").MaxLen(40).Optional().Nillable().Immutable().Comment("of an incident's, which may have no request; no key, as the notice may outlive the execution"),
		field.Time("read_at").Optional().Nillable(),
		field.Time("digest_at").Optional().Nillable().Comment("when the digest takes it; null for what no digest will take"),
		field.Time("mailed_at").Optional().Nillable().Comment("when its mail was queued; null for what was not mailed"),
		raw(field.JSON("held", json.RawMessage{}).Optional().Comment("the mail that waits till digest_at with others about the request; null for what is listed by its subject")),
	}
}

// Edges of the entity; in the database each is a composite key (company_id, id).
func (Notification) Edges() []ent.Edge {
	return []ent.Edge{
		edge.To("user", User.Type).Field("user_id").Unique().Required().Immutable(),
		edge.To("request", Request.Type).Field("request_id").Unique().Immutable(),
	}
}

// Indexes beyond those of the mixins.
func (Notification) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("company_id", "user_id", "created_at", "id"),
		index.Fields("company_id", "request_id"),
		index.Fields("digest_at").Annotations(entsql.IndexWhere("digest_at IS NOT NULL")),
	}
}
