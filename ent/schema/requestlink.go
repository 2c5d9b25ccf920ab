package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// RequestLink says what one request is to another.
type RequestLink struct{ ent.Schema }

// Mixin adds the id, the times and the guard.
func (RequestLink) Mixin() []ent.Mixin {
	return []ent.Mixin{base{prefix: "lnk", doc: "What one request is to another.", noun: "link", final: true, within: []string{"from_id", "to_id"}}, tenant{unlisted: true}}
}

// Fields of the entity.
func (RequestLink) Fields() []ent.Field {
	return []ent.Field{
		field.String("from_id").MaxLen(40).Immutable().Annotations(shown("The request that relates to the other, duplicates it, blocks it, or is its parent.", of("req"))),
		field.String("to_id").MaxLen(40).Immutable().Annotations(shown("The other request.", of("req"))),
		field.Enum("type").Values("relates", "duplicates", "blocks", "parent").Immutable().Annotations(shown("What the one is to the other.", typed("RequestLinkType!"))),
		field.String("created_by").MaxLen(40).Immutable().Annotations(shown("The user or service account that linked them.", typed("ID!"), of("usr"))),
	}
}

// Edges of the entity; in the database each is a composite key (company_id, id).
func (RequestLink) Edges() []ent.Edge {
	return []ent.Edge{
		edge.To("from", Request.Type).Field("from_id").Unique().Required().Immutable(),
		edge.To("to", Request.Type).Field("to_id").Unique().Required().Immutable(),
	}
}

// Indexes beyond those of the mixins.
func (RequestLink) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("company_id", "from_id", "to_id", "type").Unique(),
		index.Fields("company_id", "to_id"),
	}
}
