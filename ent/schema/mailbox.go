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
		field.Enum("kind").Values("smtp", "webhook").Immutable().Annotations(shown("How its mail comes: to the server's own listener, or by a provider's webhook.", typed("MailboxKind!"))),
		field.String("receives_at").MaxLen(254).Immutable().Unique().Annotations(shown("The address at this server to which its mail is to be forwarded.", eg("help.acme@mail.example.com"))),
		field.String("offering_id").MaxLen(40).Annotations(shown("The offering against which a new mail files a request.", typed("ID!"))),
		field.String("team_id").MaxLen(40).Optional().Nillable().Annotations(shown("The team of these requests; null to leave that to the rules.")),
		field.Enum("unknown_senders").Values("hold", "create", "refuse").Default("hold").Annotations(shown("What becomes of mail from people who are no members.", typed("UnknownSenders!"))),
		field.String("authserv_id").MaxLen(254).Optional().Nillable().Annotations(shown("The server whose Authentication-Results are believed; null to check SPF, DKIM and DMARC here.")),
		field.Bool("enabled").Default(true).Annotations(shown("Whether it takes mail.")),
		field.Bytes("secret_sealed").Sensitive().Optional().Comment("the password of its webhook"),
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
