package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// InboundMail is one message that came to a mailbox, with what became of it.
type InboundMail struct{ ent.Schema }

// Mixin adds the id, the times and the guard.
func (InboundMail) Mixin() []ent.Mixin {
	return []ent.Mixin{base{prefix: "eml", doc: "A message that came to a mailbox.", noun: "message", final: true, within: []string{"mailbox_id"}}, tenant{}}
}

// Fields of the entity.
func (InboundMail) Fields() []ent.Field {
	return []ent.Field{
		field.String("mailbox_id").MaxLen(40).Immutable().Annotations(shown("The mailbox that it came to.")),
		field.String("message_id").MaxLen(998).Optional().Annotations(shown("Its Message-ID; the SHA-256 of its bytes when it has none.", typed("String"))),
		field.String("sender").MaxLen(320).Optional().Annotations(shown("Whom it says that it is from.", typed("String"), eg("ada@example.com"))),
		field.String("recipient").MaxLen(320).Immutable().Annotations(shown("The address that it was delivered to.")),
		field.String("subject").MaxLen(1000).Optional().Annotations(shown("Its subject.", typed("String"))),
		field.String("excerpt").MaxLen(8000).Optional().Annotations(shown("The beginning of what it says, for as long as the message is kept.", typed("String"))),
		field.Enum("outcome").Values("RECEIVED", "COMMENT", "REQUEST", "HELD", "REFUSED", "LOOP", "DUPLICATE", "BOUNCE").Default("RECEIVED").Annotations(shown("What became of it.", typed("MailOutcome!"))),
		field.String("reason").MaxLen(500).Optional().Nillable().Annotations(shown("Why; null where the outcome says it all.")),
		field.String("request_id").MaxLen(40).Optional().Nillable().Annotations(shown("The request that it filed or that it is about.")),
		field.String("comment_id").MaxLen(40).Optional().Nillable().Annotations(shown("The comment that it became.")),
		field.Int64("size").Immutable().Annotations(shown("Its bytes.")),
		field.String("stored_as").MaxLen(120).Optional().Comment("the key of the message in the file store; empty once it is removed, 30 days after it came"),
		field.String("peer").MaxLen(64).Optional().Immutable().Comment("the address of the server that sent it, which SPF looks at"),
		field.String("helo").MaxLen(255).Optional().Immutable().Comment("what that server called itself"),
		field.String("mail_from").MaxLen(320).Optional().Immutable().Comment("the sender of the envelope"),
	}
}

// Edges of the entity; in the database each is a composite key (company_id, id).
func (InboundMail) Edges() []ent.Edge {
	return []ent.Edge{
		edge.To("mailbox", Mailbox.Type).Field("mailbox_id").Unique().Required().Immutable().Annotations(entsql.OnDelete(entsql.Cascade)),
	}
}

// Indexes beyond those of the mixins.
func (InboundMail) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("company_id", "mailbox_id", "created_at", "id"),
		index.Fields("company_id", "message_id"),           // the same message twice
		index.Fields("company_id", "sender", "created_at"), // how much somebody has sent
		index.Fields("company_id", "stored_as"),            // what the sweep looks up
		index.Fields("created_at", "id"),                   // what the sweep removes
		index.Fields("outcome", "created_at"),              // what is to be looked at
	}
}
