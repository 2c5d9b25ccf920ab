package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// PhaseVisit is one entry of an execution into a phase: a line of its history.
type PhaseVisit struct{ ent.Schema }

// Mixin adds the id, the times and the guard.
func (PhaseVisit) Mixin() []ent.Mixin {
	return []ent.Mixin{base{prefix: "phv"}, tenant{unlisted: true}}
}

// Fields of the entity.
func (PhaseVisit) Fields() []ent.Field {
	return []ent.Field{
		field.String("execution_id").MaxLen(40).Immutable(),
		field.Int("number").Immutable().Comment("counts from 1 in each execution"),
		field.String("phase_id").MaxLen(63).Immutable(),
		field.String("type").MaxLen(20).Immutable(),
		field.Enum("status").Values("RUNNING", "WAITING", "COMPLETED", "SKIPPED", "FAILED"),
		field.Time("started_at").Immutable(),
		field.Time("finished_at").Optional().Nillable(),
		field.String("transition").Default(""),
		field.Int("attempts").Default(1),
		field.String("branch").MaxLen(200).Optional().Nillable().Immutable().Comment("of a block, with those around it: \"Access / 3\"; null outside of blocks"),
		document("input", "what the phase was given, secrets masked"),
		document("output", "what it left behind, secrets masked"),
		document("error", "{phaseId, code, message}"),
	}
}

// Edges of the entity; in the database each is a composite key (company_id, id).
func (PhaseVisit) Edges() []ent.Edge {
	return []ent.Edge{
		edge.To("execution", Execution.Type).Field("execution_id").Unique().Required().Immutable().Annotations(entsql.OnDelete(entsql.Cascade)),
	}
}

// Indexes beyond those of the mixins.
func (PhaseVisit) Indexes() []ent.Index {
	return []ent.Index{index.Fields("company_id", "execution_id", "number").Unique()}
}
