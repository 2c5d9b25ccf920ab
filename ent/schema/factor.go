package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Factor is a second factor of an account: an authenticator app, a telephone number or a passkey.
type Factor struct{ ent.Schema }

// Mixin adds the id, the times and the guard.
func (Factor) Mixin() []ent.Mixin { return []ent.Mixin{base{prefix: "fac"}, global{}} }

// Fields of the entity.
func (Factor) Fields() []ent.Field {
	return []ent.Field{
		field.String("account_id").MaxLen(40).Immutable(),
		field.Enum("kind").Values("totp", "sms", "passkey").Immutable(),
		field.String("name").MaxRuneLen(100).Comment("as the person tells it from others: a device, the last digits of a number"),
		field.Bytes("secret_sealed").Sensitive().Optional().Comment("totp: the key; sms: the number"),
		field.Bytes("credential_id").MaxLen(1024).Optional().Nillable().Unique().Immutable().Comment("passkey"),
		field.Bytes("credential").Optional().Comment("passkey: the public key and its counter, as WebAuthn's record in JSON"),
		field.Int64("last_step").Default(0).Comment("totp: the time step of the last code that was taken; no code of it or before is taken again"),
		field.Time("last_used_at").Optional().Nillable(),
	}
}

// Indexes beyond those of the mixins.
func (Factor) Indexes() []ent.Index { return []ent.Index{index.Fields("account_id", "kind")} }
