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
func (User) Mixin() []ent.Mixin { return []ent.Mixin{base{prefix: "usr", ruled: true}, tenant{}} }

// Fields of the entity.
func (User) Fields() []ent.Field {
	return []ent.Field{
		field.String("account_id").MaxLen(40).Comment("until the person has come, the account of the address; once they are erased, one of nobody"),
		field.String("live_user_id").MaxLen(40).Optional().Nillable().Immutable(),
		field.String("email").MaxLen(254),
		field.String("name").MaxRuneLen(200),
		field.Enum("role").Values("owner", "admin", "agent", "member").Default("member"),
		field.Enum("status").Values("invited", "active", "deactivated", "erased").Default("active"),
		field.JSON("attributes", map[string]string{}).Optional(),
		field.JSON("notifications", map[string]string{}).Optional().Comment("channels by kind, where they are not the usual ones"),
		field.Bool("mfa_enabled").Default(false).Comment("of an active user whose account has factors"),
		field.Time("accepted_at").Optional().Nillable().Comment("when the person first came; none of somebody who was invited only"),
		field.Time("last_seen_at").Optional().Nillable(),
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
