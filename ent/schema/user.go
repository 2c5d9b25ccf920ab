package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// User is a membership of an account in one company. A sandbox's users mirror live ones (live_user_id), whose role counts.
type User struct{ ent.Schema }

// Mixin adds the id, the times and the guard.
func (User) Mixin() []ent.Mixin {
	return []ent.Mixin{base{prefix: "usr", doc: "A member of the company.", noun: "user", ruled: true}, tenant{}}
}

// Fields of the entity.
func (User) Fields() []ent.Field {
	return []ent.Field{
		field.String("account_id").MaxLen(40).Comment("until the person has come, the account of the address; once they are erased, one of nobody"),
		field.String("live_user_id").MaxLen(40).Optional().Nillable().Immutable(),
		field.String("email").MaxLen(254).Annotations(shown("In lower case; unique in the company.", eg("ada@example.com"))),
		field.String("name").MaxRuneLen(200).Annotations(shown("What people call them.", eg("Ada Osei"))),
		field.Enum("role").Values("owner", "admin", "agent", "member").Default("member").Annotations(shown("What they may do.", typed("Role!"))),
		field.Enum("status").Values("invited", "active", "deactivated", "erased").Default("active").Annotations(shown("Whether they can sign in.", eg("active"))),
		field.JSON("attributes", map[string]string{}).Optional().Annotations(shown("What access policies may ask for as principal.attributes.", eg(`{"department": "finance"}`), also("teamIds", "[ID!]!", "The teams that they are in, ordered by id.", filled("[]string"), eg(`["team_01k9ye4ryzf7stj6dqnm8x2v3b"]`)))),
		field.String("locale").MaxLen(35).Optional().Nillable().Annotations(shown("The language of their pages and mails; null for the company's, and the browser's without one.", eg("de"))),
		field.String("time_zone").MaxLen(64).Optional().Nillable().Annotations(shown("The zone of the times that they are told, by its IANA name; null for the company's.", eg("Europe/Berlin"))),
		field.Enum("mail_state").Values("OK", "BOUNCED").Default("OK").Annotations(shown("BOUNCED since a mail to them came back, until they sign in or their address changes.", typed("MailState!"))),
		field.JSON("notifications", map[string]string{}).Optional().Comment("channels by kind, where they are not the usual ones"),
		field.Bool("mfa_enabled").Default(false).Comment("of an active user whose account has factors").Annotations(shown("Whether signing in takes a second factor.")),
		field.Time("accepted_at").Optional().Nillable().Comment("when the person first came; none of somebody who was invited only"),
		field.Time("last_seen_at").Optional().Nillable().Annotations(shown("When they last called; null before the first time.", eg("2026-03-02T09:30:00.000Z"))),
		field.Time("signed_out_at").Optional().Nillable().Comment("sessions and tokens from before are over"),
	}
}

// Edges of the entity; in the database each is a composite key (company_id, id).
func (User) Edges() []ent.Edge {
	return []ent.Edge{
		edge.From("memberships", TeamMember.Type).Ref("user"),
	}
}

// Indexes beyond those of the mixins.
func (User) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("company_id", "email").Unique(),
		index.Fields("account_id"),
		index.Fields("company_id", "name", "id"),
		index.Fields("company_id", "updated_at", "id"),
	}
}
