package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Approval is what a phase of an execution asks somebody to decide.
type Approval struct{ ent.Schema }

// Mixin adds the id, the times and the guard.
func (Approval) Mixin() []ent.Mixin {
	return []ent.Mixin{base{prefix: "apr", ruled: true, within: []string{"request_id"}}, tenant{}}
}

// Fields of the entity.
func (Approval) Fields() []ent.Field {
	return []ent.Field{
		field.String("execution_id").MaxLen(40).Immutable(),
		field.String("request_id").MaxLen(40).Optional().Nillable().Immutable(),
		field.String("phase_id").MaxLen(63).Immutable(),
		field.Int("visit").Immutable().Comment("of the phase, by its number in the execution"),
		field.Int("attempt").Immutable().Comment("of the visit: no two approvals of one visit have the same"),
		field.String("title").MaxRuneLen(1000).Comment("an erasure alone changes it"),
		field.Enum("status").Values("PENDING", "APPROVED", "REJECTED", "EXPIRED", "CANCELLED").Default("PENDING"),
		field.Bool("sign_off").Default(false).Immutable().Comment("it is about the outcome of the phase's task"),
		field.Enum("mode").Values("any", "all", "quorum").Immutable(),
		field.Int("quorum").Default(0).Immutable().Comment("of the mode quorum"),
		field.Bool("sequential").Default(false).Immutable(),
		document("approvers", "[{type, id}], by their places; who delegates puts another one into its own"),
		document("decisions", "[{approver, by, approve, comment, at}], in the order in which they came"),
		field.Time("expires_at").Optional().Nillable(),
	}
}

// Edges of the entity; in the database each is a composite key (company_id, id).
func (Approval) Edges() []ent.Edge {
	return []ent.Edge{
		edge.To("execution", Execution.Type).Field("execution_id").Unique().Required().Immutable().Annotations(entsql.OnDelete(entsql.Cascade)),
		edge.To("request", Request.Type).Field("request_id").Unique().Immutable(),
	}
}

// Indexes beyond those of the mixins.
func (Approval) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("company_id", "execution_id", "visit", "attempt").Unique(),
		index.Fields("company_id", "status", "created_at", "id"),
		index.Fields("company_id", "updated_at", "id"),
		index.Fields("company_id", "request_id", "created_at", "id"),
	}
}
