package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
)

// RateCount keeps how many calls a credential has made in a UTC day, so that a restart does not forget them.
type RateCount struct{ ent.Schema }

// Mixin adds the id, the times and the guard.
func (RateCount) Mixin() []ent.Mixin { return []ent.Mixin{global{}} }

// Fields of the entity.
func (RateCount) Fields() []ent.Field {
	return []ent.Field{
		field.String("id").MaxLen(160).Immutable().Comment("the limiter's key"),
		field.String("day").MaxLen(10),
		field.Int("count"),
	}
}
