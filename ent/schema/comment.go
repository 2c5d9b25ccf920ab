package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Comment is what somebody said about a request.
type Comment struct{ ent.Schema }

// Mixin adds the id, the times and the guard.
func (Comment) Mixin() []ent.Mixin {
	return []ent.Mixin{base{prefix: "cmt", doc: "What somebody said about a request.", noun: "comment", ruled: true, within: []string{"request_id"}}, tenant{unlisted: true}}
}

// Fields of the entity.
func (Comment) Fields() []ent.Field {
	return []ent.Field{
		field.String("request_id").MaxLen(40).Immutable().Annotations(shown("The request that it is about.", of("req"))),
		field.String("author_id").MaxLen(40).Immutable().Comment("a user or a service account").Annotations(shown("The user or service account that wrote it.", of("usr"))),
		field.String("body").MaxRuneLen(10_000).Annotations(shown("What was said.", eg("It has arrived."))),
		field.Enum("format").Values("plain", "markdown").Default("plain").StructTag(`audit:"-"`).Annotations(shown("How the body is written.", typed("TextFormat!"))),
		field.Enum("visibility").Values("public", "internal").Default("public").Annotations(shown("Who reads it: agents, admins and owners alone read internal ones.")),
		field.Enum("via").Values("mail").Optional().Nillable().Annotations(shown("mail where it came by mail; null otherwise.", typed("CommentVia"))),
		field.String("quoted").MaxRuneLen(100_000).Optional().Nillable().StructTag(`audit:"-"`).Annotations(shown("What a mail quoted besides its text, for staff who may read every comment; null for others, and for nothing.")),
		field.JSON("mentioned", []string{}).Optional().Comment("ids of the users who were told of a mention, each once"),
	}
}

// Edges of the entity; in the database each is a composite key (company_id, id).
func (Comment) Edges() []ent.Edge {
	return []ent.Edge{edge.To("request", Request.Type).Field("request_id").Unique().Required().Immutable()}
}

// Indexes beyond those of the mixins.
func (Comment) Indexes() []ent.Index {
	return []ent.Index{index.Fields("company_id", "request_id", "created_at", "id")}
}
