package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// SignIn is a browser that somebody signs in with, or has signed in with, at the provider's pages. Its cookie is renewed
// whenever it gains rights.
type SignIn struct{ ent.Schema }

// Mixin adds the id, the times and the guard.
func (SignIn) Mixin() []ent.Mixin { return []ent.Mixin{base{prefix: "sgn"}, global{}} }

// Fields of the entity.
func (SignIn) Fields() []ent.Field {
	return []ent.Field{
		field.String("account_id").MaxLen(40).Immutable(),
		field.Bytes("token_hash").MaxLen(32).Sensitive().Unique().Comment("SHA-256 of the cookie"),
		field.JSON("methods", []string{}).Comment("how the person proved who it is, as amr names it: pwd otp sms hwk mfa"),
		field.Time("authenticated_at").Comment("of the last proof"),
		field.Time("completed_at").Optional().Nillable().Comment("all factors that the account needs were given"),
		field.Bytes("pending").Sensitive().Optional().Comment("sealed: what an unfinished step remembers"),
		field.Time("expires_at"),
		field.Time("ended_at").Optional().Nillable(),
		field.String("ip").MaxLen(64).Default(""),
		field.String("user_agent").MaxLen(300).Default(""),
	}
}

// Indexes beyond those of the mixins.
func (SignIn) Indexes() []ent.Index {
	return []ent.Index{index.Fields("account_id"), index.Fields("expires_at")}
}
