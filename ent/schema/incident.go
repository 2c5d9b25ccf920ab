package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Incident is what keeps an execution from going on until somebody has looked at it.
type Incident struct{ ent.Schema }

// Mixin adds the id, the times and the guard.
func (Incident) Mixin() []ent.Mixin {
	return []ent.Mixin{base{prefix: "inc", doc: "What keeps an execution from going on until somebody has looked at it.", noun: "incident", final: true, ruled: true, within: []string{"execution_id"}}, tenant{}}
}

// Fields of the entity.
func (Incident) Fields() []ent.Field {
	return []ent.Field{
		field.String("execution_id").MaxLen(40).Immutable().Annotations(shown("The execution that waits.", of("exe"))),
		field.String("phase_id").MaxLen(63).Immutable().Annotations(shown("The phase of the execution.", typed("String!"), eg("order"))),
		field.Int("visit").Immutable().Comment("of the phase, by its number in the execution"),
		field.Int("attempt").Immutable().Comment("of the visit: no two incidents of one visit have the same"),
		field.String("code").MaxLen(40).Immutable().Annotations(shown("What went wrong, for programs.", eg("call_failed"))),
		field.String("message").Comment("an erasure alone changes it").Annotations(shown("What went wrong, for people.", eg("The call was answered with 503."))),
		field.Enum("status").Values("OPEN", "RESOLVED").Default("OPEN").Annotations(shown("Whether it was looked at.")),
		field.Enum("resolution").Values("RETRY", "SKIP", "MOVE").Optional().Nillable().Comment("null for one that is open, or ended with its execution").Annotations(shown("What was done about it.")),
		document("variables", "by phase, that the resolution put in the place of those that were there", shown("By phase: what was put in the place of what the phases had left behind.", eg("{}"))),
		field.Int("to_version").Optional().Nillable().Comment("of the workflow, to which a MOVE brought the execution").Annotations(shown("The version that a MOVE brought the execution to.", eg("2"))),
		field.String("to_phase_id").MaxLen(63).Optional().Nillable().Comment("of that version, in which it went on").Annotations(shown("The phase of that version in which it went on.", typed("String"), eg("order"))),
		field.String("resolved_by").MaxLen(40).Optional().Nillable().Annotations(shown("Who did it.", typed("ID"), of("usr"))),
		field.Time("resolved_at").Optional().Nillable().Annotations(shown("When.")),
	}
}

// Edges of the entity; in the database each is a composite key (company_id, id).
func (Incident) Edges() []ent.Edge {
	return []ent.Edge{
		edge.To("execution", Execution.Type).Field("execution_id").Unique().Required().Immutable().Annotations(entsql.OnDelete(entsql.Cascade)),
	}
}

// Indexes beyond those of the mixins.
func (Incident) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("company_id", "execution_id", "visit", "attempt").Unique(),
		index.Fields("company_id", "status", "created_at", "id"),
		index.Fields("company_id", "updated_at", "id"),
	}
}
