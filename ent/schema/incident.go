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
	return []ent.Mixin{base{prefix: "inc", ruled: true, within: []string{"execution_id"}}, tenant{}}
}

// Fields of the entity.
func (Incident) Fields() []ent.Field {
	return []ent.Field{
		field.String("execution_id").MaxLen(40).Immutable(),
		field.String("phase_id").MaxLen(63).Immutable(),
		field.Int("visit").Immutable().Comment("of the phase, by its number in the execution"),
		field.Int("attempt").Immutable().Comment("of the visit: no two incidents of one visit have the same"),
		field.String("code").MaxLen(40).Immutable(),
		field.String("message").Comment("an erasure alone changes it"),
		field.Enum("status").Values("OPEN", "RESOLVED").Default("OPEN"),
		field.Enum("resolution").Values("RETRY", "SKIP", "MOVE").Optional().Nillable().Comment("null for one that is open, or ended with its execution"),
		document("variables", "by phase, that the resolution put in the place of those that were there"),
		field.Int("to_version").Optional().Nillable().Comment("of the workflow, to which a MOVE brought the execution"),
		field.String("to_phase_id").MaxLen(63).Optional().Nillable().Comment("of that version, in which it went on"),
		field.String("resolved_by").MaxLen(40).Optional().Nillable(),
		field.Time("resolved_at").Optional().Nillable(),
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
