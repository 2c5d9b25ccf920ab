package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// AuthRequest is an authorization request of an OAuth client, from the redirect to the provider until its code is
// redeemed. A redeemed one is kept until it expires, so that a replay is seen.
type AuthRequest struct{ ent.Schema }

// Mixin adds the id, the times and the guard.
func (AuthRequest) Mixin() []ent.Mixin { return []ent.Mixin{base{prefix: "arq"}, global{}} }

// Fields of the entity.
func (AuthRequest) Fields() []ent.Field {
	return []ent.Field{
		field.String("client_id").MaxLen(40).Immutable(),
		field.String("redirect_uri").MaxLen(2000).Immutable(),
		field.JSON("scopes", []string{}),
		field.String("state").MaxLen(2000).Immutable().Default(""),
		field.String("nonce").MaxLen(2000).Immutable().Default(""),
		field.String("response_mode").MaxLen(20).Immutable().Default(""),
		field.String("code_challenge").MaxLen(128).Immutable(),
		field.JSON("prompt", []string{}).Optional(),
		field.Int("max_age").Optional().Nillable().Immutable().Comment("seconds"),
		field.String("login_hint").MaxLen(254).Immutable().Default(""),
		field.Bytes("browser_hash").MaxLen(32).Sensitive().Optional().Comment("SHA-256 of the cookie of the browser that came with it"),
		field.String("sign_in_id").MaxLen(40).Optional().Nillable(),
		field.String("tenant_id").MaxLen(40).Optional().Nillable().Comment("the company that the person signs in to"),
		field.String("user_id").MaxLen(40).Optional().Nillable(),
		field.JSON("methods", []string{}).Optional().Comment("amr"),
		field.Time("authenticated_at").Optional().Nillable(),
		field.Bool("done").Default(false).Comment("signed in and consented: a code may be given"),
		field.Bytes("code_hash").MaxLen(32).Sensitive().Optional().Nillable().Unique(),
		field.Time("code_used_at").Optional().Nillable(),
		field.String("grant_id").MaxLen(40).Optional().Nillable().Comment("what the code gave"),
		field.Time("expires_at"),
	}
}

// Indexes beyond those of the mixins.
func (AuthRequest) Indexes() []ent.Index { return []ent.Index{index.Fields("expires_at")} }
