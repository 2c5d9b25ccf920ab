package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Execution is one run of a published version of a workflow.
type Execution struct{ ent.Schema }

// Mixin adds the id, the times and the guard.
func (Execution) Mixin() []ent.Mixin {
	return []ent.Mixin{base{prefix: "exe", ruled: true, within: []string{"request_id"}}, tenant{}}
}

// Fields of the entity.
func (Execution) Fields() []ent.Field {
	return []ent.Field{
		field.String("workflow_id").MaxLen(40).Immutable(),
		field.Int("workflow_version"),
		field.String("request_id").MaxLen(40).Optional().Nillable(),
		field.Enum("status").Values("RUNNING", "WAITING", "COMPLETED", "FAILED", "CANCELLED").Default("RUNNING"),
		field.Enum("trigger").Values("request", "webhook").Immutable(),
		field.String("phase_id").MaxLen(63).Optional().Nillable().Comment("of the phase in which it stands"),
		field.Int("revision").Default(0).Comment("counts commits: a step that was computed from another one is computed again"),
		document("state", "engine.State, as it was committed"),
		document("webhook", "what a webhook was called with: body, headers, method, receivedAt"),
		field.String("inbound_webhook_id").MaxLen(40).Optional().Nillable().Immutable().Comment("that started it; it may be deleted since"),
		field.String("inbound_key").MaxLen(320).Optional().Nillable().Immutable().Comment("under which the caller may repeat its call"),
		document("intake", "{offeringId, fieldMapping}: the request that it files before its first phase"),
		document("consulted", "ids of the users and teams whose advice its phases have asked: they read its request"),
		document("error", "{phaseId, code, message}, of one that failed or waits for an incident"),
		field.Time("started_at").Optional().Nillable(),
		field.Time("finished_at").Optional().Nillable(),
	}
}

// Edges of the entity; in the database each is a composite key (company_id, id).
func (Execution) Edges() []ent.Edge {
	return []ent.Edge{
		edge.To("workflow", Workflow.Type).Field("workflow_id").Unique().Required().Immutable(),
		edge.To("request", Request.Type).Field("request_id").Unique(),
		edge.From("visits", PhaseVisit.Type).Ref("execution"),
	}
}

// Indexes beyond those of the mixins.
func (Execution) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("company_id", "status", "created_at", "id"),
		index.Fields("company_id", "workflow_id", "created_at", "id"),
		index.Fields("company_id", "request_id", "created_at", "id"),
		index.Fields("company_id", "inbound_webhook_id", "inbound_key").Unique(),
		index.Fields("company_id", "updated_at", "id"),
		index.Fields("updated_at", "id"), // feeds go by it
	}
}
