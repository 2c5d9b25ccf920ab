package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
)

// SigningKey is a key pair of the identity provider; the private half is sealed under the master key.
type SigningKey struct{ ent.Schema }

// Mixin adds the id, the times and the guard.
func (SigningKey) Mixin() []ent.Mixin { return []ent.Mixin{base{prefix: "sig"}, global{}} }

// Fields of the entity.
func (SigningKey) Fields() []ent.Field {
	return []ent.Field{
		field.String("algorithm").MaxLen(16).Immutable(),
		field.Bytes("private_sealed").Sensitive().Immutable(),
		field.Bytes("public_jwk").Immutable(),
		field.Time("retired_at").Optional().Nillable(),
	}
}
