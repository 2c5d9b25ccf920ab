package schema

import (
	"encoding/json"

	"entgo.io/ent"
	"entgo.io/ent/dialect"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// AgentEvaluation is how an agent's draft did on requests whose end is known, and under attack. One that passed lets exactly these
// settings be published as AUTONOMOUS.
type AgentEvaluation struct{ ent.Schema }

// Mixin adds the id, the times and the guard.
func (AgentEvaluation) Mixin() []ent.Mixin {
	return []ent.Mixin{base{prefix: "evl"}, tenant{unlisted: true}}
}

// Fields of the entity.
func (AgentEvaluation) Fields() []ent.Field {
	return []ent.Field{
		field.String("agent_id").MaxLen(40).Immutable(),
		raw(field.JSON("settings", json.RawMessage{}).Immutable().SchemaType(map[string]string{dialect.Postgres: "json"}).Comment("the draft as it was evaluated")),
		field.String("digest").MaxLen(64).Immutable().Comment("SHA-256, in hexadecimal, of the settings"),
		document("cases", "those that were given; empty for the company's history and the attacks that ship"),
		field.Enum("status").Values("RUNNING", "PASSED", "FAILED").Default("RUNNING"),
		field.Int("total").Default(0).Comment("cases; 0 until they are chosen"),
		document("results", "[{name, …}] of the cases so far"),
		document("report", "the measures, once it has ended"),
		field.String("reason").MaxRuneLen(1000).Default("").Comment("why it did not pass, for people"),
		field.String("created_by").MaxLen(40).Immutable(),
		field.Time("ended_at").Optional().Nillable(),
	}
}

// Edges of the entity; in the database each is a composite key (company_id, id).
func (AgentEvaluation) Edges() []ent.Edge {
	return []ent.Edge{
		edge.To("agent", Agent.Type).Field("agent_id").Unique().Required().Immutable().Annotations(entsql.OnDelete(entsql.Cascade)),
	}
}

// Indexes beyond those of the mixins.
func (AgentEvaluation) Indexes() []ent.Index {
	return []ent.Index{index.Fields("company_id", "agent_id", "created_at", "id")}
}
