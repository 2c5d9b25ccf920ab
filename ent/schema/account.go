package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
)

// Account is a person's sign-in: e-mail and password, apart from the companies it is a member of.
type Account struct{ ent.Schema }

// Mixin adds the id, the times and the guard.
func (Account) Mixin() []ent.Mixin { return []ent.Mixin{base{prefix: "acc"}, global{}} }

// Fields of the entity.
func (Account) Fields() []ent.Field {
	return []ent.Field{
		field.String("email").MaxLen(254).Optional().Unique().Comment("lower case; none where another issuer signs the person in and has not verified it"),
		field.String("password_hash").Sensitive().Optional().Comment("argon2id, in its own text form"),
		field.Time("password_changed_at").Optional().Nillable(),
		field.Time("unproven_since").Optional().Nillable().
			Comment("when an import brought the account; none once somebody has used a link mailed to its address here"),
	}
}
