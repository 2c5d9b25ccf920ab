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
	return []ent.Mixin{base{prefix: "prp", doc: "What an agent proposes, or waits to do.", noun: "action", final: true, ruled: true, within: []string{"request_id"}}, tenant{}}
}

// Fields of the entity.
func (AgentAction) Fields() []ent.Field {
	return []ent.Field{
		field.String("run_id").MaxLen(40).Immutable().Annotations(shown("The run that made it.")),
		field.String("request_id").MaxLen(40).Immutable().Annotations(shown("The request that it is about.")),
		field.Int("step").Immutable().Comment("of the run that made it").Annotations(shown("The step of the run.")),
		field.Enum("kind").Values("PROPOSAL", "ACTION").Immutable().Annotations(shown("Who does it.")),
		field.String("operation").MaxLen(64).Immutable().Comment("as GraphQL names it").Annotations(shown("As this schema names it.")),
		document("arguments", "of the operation, by its fields", shown("Of the operation.", typed("JSON"))),
		document("changes", "[{field, from, to, rationale, confidence}], what people are shown", shown("The fields that it sets, and why.", typed("[AgentChange!]!"))),
		field.String("rationale").MaxRuneLen(500).Comment("an erasure alone changes it").Annotations(shown("Why, of the least certain change. Plain text.")),
		field.Float("confidence").Immutable().Comment("of the least certain change, 0 to 1").Annotations(shown("Of the least certain change, 0 to 1.")),
		field.JSON("rows", []string{}).Immutable().Comment("ids of the rows that it rests on").Annotations(shown("Ids of the rows that it rests on.")),
		field.String("digest").MaxLen(64).Comment("SHA-256, in hexadecimal, of operation, arguments and the row's version").Annotations(shown("What a person approves: operation, arguments and request as they are.")),
		field.String("row_version").MaxLen(64).Comment("of what the request said when it was planned, or was left by another action of the run; see internal/agent/runs/version.go"),
		field.Bool("shadow").Default(false).Immutable().Comment("admins alone see it, and nobody applies it").Annotations(shown("Whether admins alone see it, and nobody applies it.")),
		field.Enum("status").Values("PENDING", "APPLIED", "REJECTED", "STALE", "EXPIRED").Default("PENDING").Annotations(shown("How it stands.")),
		field.String("decided_by").MaxLen(40).Optional().Nillable().Annotations(shown("Who decided.", typed("ID"))),
		field.Time("decided_at").Optional().Nillable().Annotations(shown("When.")),
		field.String("comment").MaxRuneLen(1000).Default("").Comment("what the person who decided said").Annotations(shown("What was said about it.")),
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
