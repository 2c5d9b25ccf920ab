package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// AgentTurn is what an engine was given, or what a model answered and its tools returned: a run goes on after the last one, and is
// replayed from all of them.
type AgentTurn struct{ ent.Schema }

// Mixin adds the id, the times and the guard.
func (AgentTurn) Mixin() []ent.Mixin {
	return []ent.Mixin{base{prefix: "atn"}, tenant{unlisted: true}}
}

// Fields of the entity.
func (AgentTurn) Fields() []ent.Field {
	return []ent.Field{
		field.String("run_id").MaxLen(40).Immutable(),
		field.Int("plan").Immutable().Comment("the run's, from 1"),
		field.Int("n").Immutable().Comment("0 for what the engine was given"),
		document("content", "the request and what was looked at, or the answer with the results of its tools; secrets and keys are masked"),
	}
}

// Edges of the entity; in the database each is a composite key (company_id, id).
func (AgentTurn) Edges() []ent.Edge {
	return []ent.Edge{
		edge.To("run", AgentRun.Type).Field("run_id").Unique().Required().Immutable().Annotations(entsql.OnDelete(entsql.Cascade)),
	}
}

// Indexes beyond those of the mixins.
func (AgentTurn) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("company_id", "run_id", "plan", "n").Unique(),
		index.Fields("created_at", "id"), // the sweep goes by it
	}
}
