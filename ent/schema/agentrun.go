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
	return []ent.Mixin{base{prefix: "run", ruled: true, within: []string{"request_id"}}, tenant{}}
}

// Fields of the entity.
func (AgentRun) Fields() []ent.Field {
	return []ent.Field{
		field.String("agent_id").MaxLen(40).Immutable(),
		field.Int("agent_version").Immutable().Comment("the published version that it obeys"),
		field.String("request_id").MaxLen(40).Immutable(),
		field.Int("number").Immutable().Comment("counts from 1 in each request"),
		field.Enum("trigger").Values("created", "rerun", "assigned", "consulted").Immutable(),
		field.String("task_id").MaxLen(40).Optional().Nillable().Immutable().Comment("of a workflow's phase: what it is asked to do, or for its opinion about"),
		field.Enum("status").Values("QUEUED", "RUNNING", "WAITING", "COMPLETED", "PROPOSED", "HANDED_OVER", "FAILED", "STOPPED").Default("QUEUED"),
		field.Bool("shadow").Default(false).Immutable().Comment("admins alone see it"),
		document("steps", "[{n, kind, operation, rows, arguments, result, at}], of all its plans"),
		field.Int("plans").Default(0).Comment("how often it has planned: three times at most"),
		field.Int("model_calls").Default(0),
		field.Int("input_tokens").Default(0).Comment("that its model was sent, as that counts them"),
		field.Int("output_tokens").Default(0).Comment("that its model answered"),
		field.Time("lease_until").Optional().Nillable().Comment("CUSTOM: handed over when nothing is heard until then; none before the push"),
		field.String("outcome").MaxRuneLen(200).Default("").Comment("what it was completed with"),
		field.String("reason").MaxRuneLen(1000).Default("").Comment("why it ended so, for people"),
		field.Time("ended_at").Optional().Nillable(),
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
