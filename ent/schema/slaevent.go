package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// SLAEvent is a line of the log that a clock is derived from, beside what the row itself tells (filed, accepted, completed,
// cancelled): when it stood still and went on, and what it has set off. Lines are added and never changed.
type SLAEvent struct{ ent.Schema }

// Mixin adds the id, the times and the guard.
func (SLAEvent) Mixin() []ent.Mixin { return []ent.Mixin{base{prefix: "sle"}, tenant{unlisted: true}} }

// Fields of the entity.
func (SLAEvent) Fields() []ent.Field {
	return []ent.Field{
		field.String("subject_id").MaxLen(40).Immutable().Comment("the request or the task"),
		field.Enum("kind").Values("PAUSED", "RESUMED", "WARNED", "BREACHED", "ESCALATED").Immutable(),
		field.String("key").MaxLen(80).Immutable().Comment("what happens once: the target that was warned of or missed, the rule that escalated, the number of the pause"),
		field.Time("at").Immutable(),
	}
}

// Indexes beyond those of the mixins.
func (SLAEvent) Indexes() []ent.Index {
	return []ent.Index{index.Fields("company_id", "subject_id", "kind", "key").Unique()}
}
