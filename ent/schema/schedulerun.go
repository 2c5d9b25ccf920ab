package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// ScheduleRun is what came of one planned time of a schedule, or of a run by hand.
type ScheduleRun struct{ ent.Schema }

// Mixin adds the id, the times and the guard. Runs are listed below their schedule.
func (ScheduleRun) Mixin() []ent.Mixin {
	return []ent.Mixin{base{prefix: "schr", doc: "What came of one planned time of a schedule.", noun: "run", final: true, within: []string{"schedule_id"}}, tenant{unlisted: true}}
}

// Fields of the entity.
func (ScheduleRun) Fields() []ent.Field {
	return []ent.Field{
		field.String("schedule_id").MaxLen(40).Immutable().Annotations(shown("The schedule.", typed("ID!"), of("sch"))),
		field.Time("planned_at").Immutable().Annotations(shown("The time that was planned; of a run by hand, when it was asked for.")),
		field.Time("started_at").Optional().Nillable().Immutable().Annotations(shown("When it began; null when nothing was done.")),
		field.Enum("status").Values("STARTED", "SKIPPED", "FAILED").Immutable().Annotations(shown("What came of it.")),
		field.String("reason").MaxRuneLen(500).Optional().Nillable().Immutable().Annotations(shown("Why nothing was done.", eg("The workflow is not active."))),
		field.String("execution_id").MaxLen(40).Optional().Nillable().Immutable().Annotations(shown("The execution that it has started.", typed("ID"), of("exe"))),
		field.String("request_id").MaxLen(40).Optional().Nillable().Immutable().Annotations(shown("The request that it has filed.", typed("ID"), of("req"))),
	}
}

// Edges of the entity; in the database each is a composite key (company_id, id).
func (ScheduleRun) Edges() []ent.Edge {
	return []ent.Edge{
		edge.To("schedule", Schedule.Type).Field("schedule_id").Unique().Required().Immutable().Annotations(entsql.OnDelete(entsql.Cascade)),
	}
}

// Indexes beyond those of the mixins: a planned time is worked once, and the pages of one schedule's runs.
func (ScheduleRun) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("company_id", "schedule_id", "planned_at").Unique(),
		index.Fields("company_id", "schedule_id", "created_at", "id"),
	}
}
