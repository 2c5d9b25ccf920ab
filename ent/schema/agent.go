package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
)

// Agent is an automated participant that works queues and workflow phases.
type Agent struct{ ent.Schema }

// Mixin adds the id, the times and the guard.
func (Agent) Mixin() []ent.Mixin { return []ent.Mixin{base{prefix: "agt", ruled: true}, tenant{}} }

// Fields of the entity.
func (Agent) Fields() []ent.Field {
	return []ent.Field{
		field.String("name").MaxRuneLen(200),
		field.Enum("type").Values("QUEUE_INTAKE", "WORKFLOW_PHASE"),
		field.Enum("source").Values("MANAGED", "CUSTOM"),
		field.String("autonomy").MaxLen(40),
	}
}
