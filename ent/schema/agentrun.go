package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// AgentRun is one agent's work on one request, with the steps that it took.
type AgentRun struct{ ent.Schema }

// Mixin adds the id, the times and the guard.
func (AgentRun) Mixin() []ent.Mixin {
	return []ent.Mixin{base{prefix: "run", doc: "One agent's work on one request.", noun: "run", final: true, ruled: true, within: []string{"request_id"}}, tenant{}}
}

// Fields of the entity.
func (AgentRun) Fields() []ent.Field {
	return []ent.Field{
		field.String("agent_id").MaxLen(40).Immutable().Annotations(shown("The agent.", of("agt"))),
		field.Int("agent_version").Immutable().Comment("the published version that it obeys").Annotations(shown("The published version that it obeys.", eg("1"))),
		field.String("request_id").MaxLen(40).Immutable().Annotations(shown("The request.", of("req"))),
		field.Int("number").Immutable().Comment("counts from 1 in each request").Annotations(shown("Counted from 1 in each request.", eg("1"))),
		field.Enum("trigger").Values("created", "rerun", "assigned", "consulted").Immutable().Annotations(shown("Why it began.")),
		field.Enum("status").Values("QUEUED", "RUNNING", "WAITING", "COMPLETED", "PROPOSED", "HANDED_OVER", "FAILED", "STOPPED").Default("QUEUED").Annotations(shown("Where it is.")),
		field.Bool("shadow").Default(false).Immutable().Comment("admins alone see it").Annotations(shown("Whether admins alone see it.", eg("false"))),
		document("steps", "[{n, kind, operation, rows, arguments, result, at}], of all its plans", shown("What it did, in order.", typed("[AgentStep!]!"), filled("[]AgentStep"))),
		field.Int("plans").Default(0).Comment("how often it has planned: three times at most").Annotations(shown("How often it has planned; three times at most, as the request changes.", eg("1"))),
		field.Int("model_calls").Default(0).Annotations(shown("Calls of its model.", eg("0"))),
		field.Int("input_tokens").Default(0).Comment("that its model was sent, as that counts them").Annotations(shown("Tokens that its model was sent.", eg("0"))),
		field.Int("output_tokens").Default(0).Comment("that its model answered").Annotations(shown("Tokens that its model answered.", eg("0"))),
		field.String("task_id").MaxLen(40).Optional().Nillable().Immutable().Comment("of a workflow's phase: what it is asked to do, or for its opinion about").Annotations(shown("The task of a workflow that it is about.", of("task"))),
		field.Time("lease_until").Optional().Nillable().Comment("CUSTOM: handed over when nothing is heard until then; none before the push").Annotations(shown("Of a CUSTOM agent: when the work is handed over if nothing is heard of it.")),
		field.String("outcome").MaxRuneLen(200).Default("").Comment("what it was completed with").Annotations(shown("What it was completed with.", eg("done"))),
		field.String("reason").MaxRuneLen(1000).Default("").Comment("why it ended so, for people").Annotations(shown("Why it ended so, for people.", eg("The agent could not tell."))),
		field.Time("ended_at").Optional().Nillable().Annotations(shown("When it ended.")),
	}
}

// Edges of the entity; in the database each is a composite key (company_id, id).
func (AgentRun) Edges() []ent.Edge {
	return []ent.Edge{
		edge.To("agent", Agent.Type).Field("agent_id").Unique().Required().Immutable().Annotations(entsql.OnDelete(entsql.Cascade)),
		edge.To("request", Request.Type).Field("request_id").Unique().Required().Immutable(),
		edge.To("task", Task.Type).Field("task_id").Unique().Immutable().Annotations(entsql.OnDelete(entsql.Cascade)),
	}
}

// Indexes beyond those of the mixins.
func (AgentRun) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("company_id", "request_id", "number").Unique(), // two that begin at once cannot both begin
		index.Fields("company_id", "request_id", "created_at", "id"),
		index.Fields("company_id", "agent_id", "created_at", "id"),
		index.Fields("company_id", "status", "created_at", "id"),
		index.Fields("company_id", "task_id"),
		index.Fields("company_id", "updated_at", "id"),
		index.Fields("updated_at", "id"), // feeds go by it
	}
}
