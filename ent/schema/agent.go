package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Agent is an automated participant that works queues and workflow phases. Its row is the draft; what runs is its published
// version.
type Agent struct{ ent.Schema }

// Mixin adds the id, the times and the guard.
func (Agent) Mixin() []ent.Mixin {
	return []ent.Mixin{base{prefix: "agt", doc: "An automated participant: its draft, and where its published version stands.", noun: "agent", ruled: true}, tenant{}}
}

// Fields of the entity.
func (Agent) Fields() []ent.Field {
	return []ent.Field{
		field.String("name").MaxRuneLen(200).Annotations(shown("What people call it.")),
		field.Enum("type").Values("QUEUE_INTAKE", "WORKFLOW_PHASE").Immutable().Annotations(shown("What it works.")),
		field.Enum("source").Values("MANAGED", "CUSTOM").Immutable().Annotations(shown("Who runs it.")),
		field.Enum("status").Values("DRAFT", "ACTIVE", "PAUSED").Default("DRAFT").Annotations(shown("Whether it works.")),
		field.Int("version").Default(0).Comment("the published one; 0 before the first").Annotations(shown("The published version; 0 before the first.")),
		field.Enum("autonomy").Values("SUGGEST", "ACT_WITH_APPROVAL", "AUTONOMOUS").Annotations(shown("How far it goes by itself.")),
		field.String("owner_id").MaxLen(40).Optional().Nillable().Comment("the user who answers for it; none for agents from before there were owners").Annotations(shown("The user who answers for it.")),
		field.Enum("role").Values("member", "agent").Default("agent").Annotations(shown("What it may do; never more than its owner.")),
		field.JSON("scopes", []string{}).Optional().Annotations(shown("What it may do of that.")),
		field.String("filter").MaxLen(4096).Default("").Comment("CEL over request; empty for every request").Annotations(shown("CEL over request: the new requests that it takes; empty for all.")),
		field.Enum("sees").Values("requester", "agent").Default("requester").Comment("whose eyes bound what it reads, besides its own rights").Annotations(shown("Whose eyes bound what it reads, besides its own rights.")),
		field.String("instructions").MaxRuneLen(20_000).Default("").Annotations(shown("What people want of it.")),
		field.Enum("engine").Values("history", "model").Default("history").Annotations(shown("What it thinks with.")),
		field.String("model_connection_id").MaxLen(40).Optional().Nillable().Comment("where its model is asked; none for the operator's own").Annotations(shown("Where its model is asked; null for the server's own model.")),
		field.String("model").MaxRuneLen(200).Default("").Comment("the model's name there; empty for the connection's first").Annotations(shown("The model's name there; empty for the connection's first.")),
		document("limits", "{steps, modelCalls, tokens, minutes} of one run", shown("What a run that asks a model may take.", typed("AgentLimits!"))),
		document("tools", "[{name, mode}], the allow-list", shown("The operations that it may use.", typed("[AgentTool!]!"))),
		field.Int("runs_per_day").Default(1000).Comment("a run beyond them is handed over").Annotations(shown("Runs that it begins in any 24 hours; those beyond are handed over to people.")),
		field.Bool("shadow").Default(false).Comment("it proposes to admins alone").Annotations(shown("Whether it only proposes, and to admins alone.")),
		field.String("endpoint_url").MaxLen(2000).Default("").Comment("CUSTOM: where runs are pushed to; empty for an agent that asks for them").Annotations(shown("Where runs of a CUSTOM agent are pushed to; empty for one that asks for them.")),
		field.Int("consult_minutes").Default(30).Comment("how long a task waits for its opinion").Annotations(shown("How many minutes it has for its opinion about a task.")),
		field.Bytes("secret_sealed").Sensitive().Optional().Comment("CUSTOM: what signs pushes"),
		field.Bytes("previous_sealed").Sensitive().Optional().Comment("the secret before, which still signs until previous_until"),
		field.Time("previous_until").Optional().Nillable(),
	}
}

// Edges of the entity; in the database each is a composite key (company_id, id).
func (Agent) Edges() []ent.Edge {
	return []ent.Edge{
		edge.To("owner", User.Type).Field("owner_id").Unique(),
		edge.To("model_connection", ModelConnection.Type).Field("model_connection_id").Unique(),
	}
}

// Indexes beyond those of the mixins.
func (Agent) Indexes() []ent.Index {
	return []ent.Index{index.Fields("company_id", "owner_id"), index.Fields("company_id", "model_connection_id")}
}
