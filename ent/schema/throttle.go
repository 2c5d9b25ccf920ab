package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Throttle counts failed proofs of one account or one address in a row.
type Throttle struct{ ent.Schema }

// Mixin adds the guard.
func (Throttle) Mixin() []ent.Mixin { return []ent.Mixin{global{}} }

// Fields of the entity.
func (Throttle) Fields() []ent.Field {
	return []ent.Field{
		field.String("id").MaxLen(160).Immutable().Comment("what is counted: SHA-256 of the e-mail address, or the network"),
		field.Int("failures"),
		field.Time("blocked_until").Optional().Nillable(),
		field.Time("expires_at").Comment("when it is forgotten"),
	}
}

// Indexes beyond those of the mixins.
func (Throttle) Indexes() []ent.Index { return []ent.Index{index.Fields("expires_at")} }
