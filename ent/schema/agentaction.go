package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// AgentAction is what a run proposes to a person, or what it does once a person has approved it.
type AgentAction struct{ ent.Schema }

// Mixin adds the id, the times and the guard.
func (AgentAction) Mixin() []ent.Mixin {
	return []ent.Mixin{base{prefix: "prp", ruled: true, within: []string{"request_id"}}, tenant{}}
}

// Fields of the entity.
func (AgentAction) Fields() []ent.Field {
	return []ent.Field{
		field.String("run_id").MaxLen(40).Immutable(),
		field.String("request_id").MaxLen(40).Immutable(),
		field.Int("step").Immutable().Comment("of the run that made it"),
		field.Enum("kind").Values("PROPOSAL", "ACTION").Immutable(),
		field.String("operation").MaxLen(64).Immutable().Comment("as GraphQL names it"),
		document("arguments", "of the operation, by its fields"),
		document("changes", "[{field, from, to, rationale, confidence}], what people are shown"),
		field.String("rationale").MaxRuneLen(500).Comment("an erasure alone changes it"),
		field.Float("confidence").Immutable().Comment("of the least certain change, 0 to 1"),
		field.JSON("rows", []string{}).Immutable().Comment("ids of the rows that it rests on"),
		field.String("digest").MaxLen(64).Comment("SHA-256, in hexadecimal, of operation, arguments and the row's version"),
		field.String("row_version").MaxLen(64).Comment("of what the request said when it was planned, or was left by another action of the run; see internal/agent/runs/version.go"),
		field.Bool("shadow").Default(false).Immutable().Comment("admins alone see it, and nobody applies it"),
		field.Enum("status").Values("PENDING", "APPLIED", "REJECTED", "STALE", "EXPIRED").Default("PENDING"),
		field.String("decided_by").MaxLen(40).Optional().Nillable(),
		field.Time("decided_at").Optional().Nillable(),
		field.String("comment").MaxRuneLen(1000).Default("").Comment("what the person who decided said"),
	}
}

// Edges of the entity; in the database each is a composite key (company_id, id).
func (AgentAction) Edges() []ent.Edge {
	return []ent.Edge{
		edge.To("run", AgentRun.Type).Field("run_id").Unique().Required().Immutable().Annotations(entsql.OnDelete(entsql.Cascade)),
		edge.To("request", Request.Type).Field("request_id").Unique().Required().Immutable(),
	}
}

// Indexes beyond those of the mixins.
func (AgentAction) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("company_id", "run_id", "created_at", "id"),
		index.Fields("company_id", "request_id", "status"),
		index.Fields("company_id", "status", "created_at", "id"),
	}
}
