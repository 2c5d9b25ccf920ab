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
	return []ent.Mixin{base{prefix: "exe", doc: "One run of a published version of a workflow.", noun: "execution", final: true, ruled: true, within: []string{"request_id"}}, tenant{}}
}

// Fields of the entity.
func (Execution) Fields() []ent.Field {
	return []ent.Field{
		field.String("workflow_id").MaxLen(40).Immutable().Annotations(shown("The workflow.")),
		field.Int("workflow_version").Annotations(shown("The published version that it runs, whatever is published meanwhile.")),
		field.String("request_id").MaxLen(40).Optional().Nillable().Annotations(shown("The request that it processes.")),
		field.Enum("status").Values("RUNNING", "WAITING", "COMPLETED", "FAILED", "CANCELLED").Default("RUNNING").Annotations(shown("Where it is in its life.")),
		field.Enum("trigger").Values("request", "webhook", "schedule", "workflow").Immutable().Annotations(shown("What started it.")),
		field.String("phase_id").MaxLen(63).Optional().Nillable().Comment("of the phase in which it stands").Annotations(shown("The phase in which it stands, or ended: inside of a block, the block.", typed("String"), also("phaseIds", "[String!]!", "The phases in which it stands now: one, or several inside of a block."), also("variables", "JSON!", "What its expressions read: request, webhook and phases, and input if another execution has called it."), also("phases", "[PhaseVisit!]!", "The phases that it has entered, in order; the last 1,000 of more, the last 100 where several executions are asked for."), also("phaseNames", "StringMap", "What people call the phases of its workflow, by their ids; null where the caller does not see the workflow."))),
		field.Int("revision").Default(0).Comment("counts commits: a step that was computed from another one is computed again"),
		document("state", "engine.State, as it was committed"),
		document("webhook", "what a webhook was called with: body, headers, method, receivedAt"),
		field.String("inbound_webhook_id").MaxLen(40).Optional().Nillable().Immutable().Comment("that started it; it may be deleted since"),
		field.String("inbound_key").MaxLen(320).Optional().Nillable().Immutable().Comment("under which the caller may repeat its call"),
		field.String("parent_id").MaxLen(40).Optional().Nillable().Immutable().Comment("the execution that called it").Annotations(shown("The execution that has called it by a CALL_WORKFLOW; null for one that nothing calls.")),
		field.String("parent_phase_id").MaxLen(63).Optional().Nillable().Immutable().Annotations(shown("The phase of that execution.", typed("String"))),
		field.String("parent_branch").MaxLen(200).Optional().Nillable().Immutable().Annotations(shown("The branch in which that phase was, with those around it; null outside of blocks.")),
		field.Int("parent_visit").Optional().Nillable().Immutable().Comment("the number of the visit that called it"),
		field.Int("parent_attempt").Optional().Nillable().Immutable().Comment("of that visit"),
		field.String("root_id").MaxLen(40).Optional().Nillable().Immutable().Comment("the execution that nothing calls, from which the calls lead here"),
		field.Int("depth").Default(0).Immutable().Comment("how many calls lead here"),
		document("input", "what the phase that called it gave, by names"),
		document("intake", "{offeringId, fieldMapping}: the request that it files before its first phase"),
		document("consulted", "ids of the users and teams whose advice its phases have asked: they read its request"),
		document("error", "{phaseId, code, message}, of one that failed or waits for an incident", shown("Why it failed, or what somebody has to look at before it goes on.", typed("ExecutionError"))),
		field.Time("started_at").Optional().Nillable().Annotations(shown("When its first phase was entered.")),
		field.Time("finished_at").Optional().Nillable().Annotations(shown("When it ended.")),
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
		index.Fields("company_id", "parent_id", "parent_visit", "parent_attempt").Unique(),
		index.Fields("company_id", "root_id"),
		index.Fields("company_id", "updated_at", "id"),
		index.Fields("updated_at", "id"), // feeds go by it
	}
}
