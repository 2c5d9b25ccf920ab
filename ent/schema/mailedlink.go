package schema

import (
	"encoding/json"

	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// MailedLink is the right that a link in a mail carries, once: to accept an invitation, to set a new password, to confirm
// an address or to open a company.
type MailedLink struct{ ent.Schema }

// Mixin adds the id, the times and the guard.
func (MailedLink) Mixin() []ent.Mixin { return []ent.Mixin{base{prefix: "lnk"}, global{}} }

// Fields of the entity.
func (MailedLink) Fields() []ent.Field {
	return []ent.Field{
		field.Enum("kind").Values("invitation", "password_reset", "email_change", "sign_up").Immutable(),
		field.Bytes("token_hash").MaxLen(32).Sensitive().Unique().Immutable(),
		field.String("account_id").MaxLen(40).Optional().Nillable().Comment("none for a sign-up"),
		field.String("user_id").MaxLen(40).Optional().Nillable().Immutable().Comment("invitation: the membership that it opens"),
		field.String("invited_by").MaxLen(40).Optional().Nillable().Immutable().Comment("invitation: the company in whose allowance it counts; none for one that the person asked for"),
		raw(field.JSON("data", json.RawMessage{}).Optional().Immutable().Comment("email_change: the new address; sign_up: what was filled in")),
		field.Time("expires_at").Immutable(),
		field.Time("used_at").Optional().Nillable(),
	}
}

// Indexes beyond those of the mixins.
func (MailedLink) Indexes() []ent.Index {
	return []ent.Index{index.Fields("account_id", "kind"), index.Fields("user_id"), index.Fields("invited_by", "created_at"), index.Fields("expires_at")}
}
