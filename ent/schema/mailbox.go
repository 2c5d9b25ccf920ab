package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Mailbox is an address whose mail becomes requests and comments.
type Mailbox struct{ ent.Schema }

// Mixin adds the id, the times and the guard.
func (Mailbox) Mixin() []ent.Mixin {
	return []ent.Mixin{base{prefix: "mbx", doc: "An address whose mail becomes requests and comments.", noun: "mailbox"}, tenant{}}
}

// Fields of the entity.
func (Mailbox) Fields() []ent.Field {
	return []ent.Field{
		field.String("address").MaxLen(254).Annotations(shown("What people write to, in lower case.", eg("help@example.com"))),
		field.Enum("kind").Values("smtp", "webhook", "imap").Immutable().Annotations(shown("How its mail comes: to the server's own listener, by a provider's webhook, or fetched from a mail server.", typed("MailboxKind!"), also("url", "String", "Where a mail provider calls its webhook; null for another kind."))),
		field.String("receives_at").MaxLen(254).Immutable().Optional().Nillable().Unique().Annotations(shown("The address at this server to which its mail is to be forwarded; null for a kind other than smtp.", eg("help.acme@mail.example.com"))),
		field.String("offering_id").MaxLen(40).Annotations(shown("The offering against which a new mail files a request.", typed("ID!"))),
		field.String("team_id").MaxLen(40).Optional().Nillable().Annotations(shown("The team of these requests; null to leave that to the rules.")),
		field.Enum("unknown_senders").Values("hold", "create", "refuse").Default("hold").Annotations(shown("What becomes of mail from people who are no members.", typed("UnknownSenders!"))),
		field.String("authserv_id").MaxLen(254).Optional().Nillable().Annotations(shown("The server whose Authentication-Results are believed; null to check SPF, DKIM and DMARC here.")),
		field.Bool("enabled").Default(true).Annotations(shown("Whether it takes mail.")),
		field.String("server").MaxLen(260).Optional().Nillable().Annotations(shown("The mail server from which it is fetched by IMAP; null for another kind.", eg("imap.example.com:993"))),
		field.String("username").MaxLen(254).Optional().Nillable().Annotations(shown("Who signs in at that server.", eg("help@example.com"))),
		field.Bytes("secret_sealed").Sensitive().Optional().Comment("the password of its webhook, or of its user at the mail server"),
		field.Int64("fetched_validity").Default(0).Comment("of the folder in which the last message was fetched, as IMAP has it"),
		field.Int64("fetched_uid").Default(0).Comment("of the last message that was fetched"),
		field.Time("fetched_at").Optional().Nillable().Annotations(shown("When its mail was last fetched, to ten minutes; null for another kind, and before the first time.")),
		field.String("fault").MaxLen(500).Optional().Nillable().Annotations(shown("Why its mail cannot be fetched at the moment; null when all is well.")),
		field.String("created_by").MaxLen(40).Immutable().Annotations(shown("The user who made it.", typed("ID!"))),
	}
}

// Edges of the entity; in the database each is a composite key (company_id, id).
func (Mailbox) Edges() []ent.Edge {
	return []ent.Edge{
		edge.To("offering", Offering.Type).Field("offering_id").Unique().Required(),
		edge.To("team", Team.Type).Field("team_id").Unique(),
	}
}

// Indexes beyond those of the mixins: for deleting what a mailbox needs.
func (Mailbox) Indexes() []ent.Index {
	return []ent.Index{index.Fields("company_id", "offering_id"), index.Fields("company_id", "team_id")}
}
