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
func (Agent) Mixin() []ent.Mixin { return []ent.Mixin{base{prefix: "agt", ruled: true}, tenant{}} }

// Fields of the entity.
func (Agent) Fields() []ent.Field {
	return []ent.Field{
		field.String("name").MaxRuneLen(200),
		field.Enum("type").Values("QUEUE_INTAKE", "WORKFLOW_PHASE").Immutable(),
		field.Enum("source").Values("MANAGED", "CUSTOM").Immutable(),
		field.Enum("status").Values("DRAFT", "ACTIVE", "PAUSED").Default("DRAFT"),
		field.Int("version").Default(0).Comment("the published one; 0 before the first"),
		field.Enum("autonomy").Values("SUGGEST", "ACT_WITH_APPROVAL", "AUTONOMOUS"),
		field.String("owner_id").MaxLen(40).Optional().Nillable().Comment("the user who answers for it; none for agents from before there were owners"),
		field.Enum("role").Values("member", "agent").Default("agent"),
		field.JSON("scopes", []string{}).Optional(),
		field.String("filter").MaxLen(4096).Default("").Comment("CEL over request; empty for every request"),
		field.Enum("sees").Values("requester", "agent").Default("requester").Comment("whose eyes bound what it reads, besides its own rights"),
		field.String("instructions").MaxRuneLen(20_000).Default(""),
		field.Enum("engine").Values("history", "model").Default("history"),
		field.String("model_connection_id").MaxLen(40).Optional().Nillable().Comment("where its model is asked; none for the operator's own"),
		field.String("model").MaxRuneLen(200).Default("").Comment("the model's name there; empty for the connection's first"),
		document("limits", "{steps, modelCalls, tokens, minutes} of one run"),
		document("tools", "[{name, mode}], the allow-list"),
		field.Int("runs_per_day").Default(1000).Comment("a run beyond them is handed over"),
		field.Bool("shadow").Default(false).Comment("it proposes to admins alone"),
		field.String("endpoint_url").MaxLen(2000).Default("").Comment("CUSTOM: where runs are pushed to; empty for an agent that asks for them"),
		field.Int("consult_minutes").Default(30).Comment("how long a task waits for its opinion"),
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
