package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"

	"atrium/internal/desk/sla"
)

// Task is what a phase of an execution asks somebody to do.
type Task struct{ ent.Schema }

// Mixin adds the id, the times and the guard.
func (Task) Mixin() []ent.Mixin {
	return []ent.Mixin{base{prefix: "task", doc: "What a phase of an execution asks somebody to do.", noun: "task", final: true, ruled: true, within: []string{"request_id"}}, tenant{}}
}

// Fields of the entity.
func (Task) Fields() []ent.Field {
	return []ent.Field{
		field.String("execution_id").MaxLen(40).Immutable().Annotations(shown("The execution that it is part of.", of("exe"))),
		field.String("request_id").MaxLen(40).Optional().Nillable().Immutable().Annotations(shown("The request that it is about.", of("req"))),
		field.String("phase_id").MaxLen(63).Immutable().Annotations(shown("The phase of the execution.", typed("String!"), eg("hand_out"))),
		field.Int("visit").Immutable().Comment("of the phase, by its number in the execution"),
		field.Int("attempt").Immutable().Comment("of the visit: no two tasks of one visit have the same"),
		field.String("title").MaxRuneLen(1000).Annotations(shown("What is to be done, in a line.", eg("Hand out the laptop"))),
		field.String("instructions").Default("").Comment("an erasure alone changes it").Annotations(shown("What is to be done, in full.", typed("String"), eg("In person, against a signature."))),
		field.Enum("status").Values("OPEN", "IN_PROGRESS", "COMPLETED", "CANCELLED").Default("OPEN").Annotations(shown("Where it is in its life.")),
		field.String("assignee_id").MaxLen(40).Optional().Nillable().Annotations(shown("The user who is to work it.", of("usr"))),
		field.String("team_id").MaxLen(40).Optional().Nillable().Annotations(shown("The team that is to work it.", of("team"))),
		field.String("agent_id").MaxLen(40).Optional().Nillable().Annotations(shown("The agent that is to work it.", of("agt"))),
		field.Time("due_at").Optional().Nillable().Annotations(shown("When it is to be done.")),
		field.JSON("sla_levels", &sla.Levels{}).Optional().Immutable().Comment("of its phase, as they stood when it was opened: versions never change"),
		field.Time("claimed_at").Optional().Nillable().Comment("when somebody first took it, which is the response").Annotations(shown("When somebody first took it.", also("sla", "SLA", "Where it stands against the service levels of its phase; null when nothing is promised.", filled("*RequestSLA")))),
		field.Time("response_due_at").Optional().Nillable().StructTag(`audit:"-"`),
		field.Time("resolution_due_at").Optional().Nillable().StructTag(`audit:"-"`),
		field.Enum("sla_state").Values("ON_TRACK", "WARNING", "BREACHED", "MET", "PAUSED").Optional().Nillable().StructTag(`audit:"-"`),
		field.Time("sla_next_at").Optional().Nillable().StructTag(`audit:"-"`),
		document("form", "what the completion is asked for; null for anything", shown("What the completion's variables must answer; null for anything.", typed("JSON"), filled("*Form"))),
		field.JSON("outcomes", []string{}).Optional().Immutable().Comment("the ways that a completion may take").Annotations(shown("What the completion may name as its outcome.", eg(`["next"]`))),
		document("corrections", "[{field, message}], of a task that asks for corrections of the request", shown("What is to be corrected in the request, of a task that asks for that.", typed("[Correction!]!"), filled("[]Correction"), also("shown", "[ShownPhase!]!", "What it shows of earlier results, in the order in which they came: those of the phases that its own names, or else those since the last decision.", filled("[]ShownPhase")))),
		field.String("outcome").Optional().Nillable().Annotations(shown("How it was completed.", eg("next"))),
		document("variables", "what it was completed with", shown("What it was completed with.", eg(`{"serial": "X1"}`))),
		field.String("completed_by").MaxLen(40).Optional().Nillable().Annotations(shown("The user or service account that completed it.", typed("ID"), of("usr"))),
		field.Time("completed_at").Optional().Nillable().Annotations(shown("When it was completed.")),
	}
}

// Edges of the entity; in the database each is a composite key (company_id, id).
func (Task) Edges() []ent.Edge {
	return []ent.Edge{
		edge.To("execution", Execution.Type).Field("execution_id").Unique().Required().Immutable().Annotations(entsql.OnDelete(entsql.Cascade)),
		edge.To("request", Request.Type).Field("request_id").Unique().Immutable(),
		edge.To("assignee", User.Type).Field("assignee_id").Unique(),
		edge.To("team", Team.Type).Field("team_id").Unique(),
		edge.To("agent", Agent.Type).Field("agent_id").Unique(),
	}
}

// Indexes beyond those of the mixins.
func (Task) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("company_id", "execution_id", "visit", "attempt").Unique(),
		index.Fields("company_id", "status", "created_at", "id"),
		index.Fields("company_id", "assignee_id", "status", "created_at", "id"),
		index.Fields("company_id", "team_id", "status", "created_at", "id"),
		index.Fields("company_id", "agent_id", "status", "created_at", "id"),
		index.Fields("company_id", "request_id", "created_at", "id"),
		index.Fields("company_id", "updated_at", "id"),
		index.Fields("updated_at", "id"), // feeds go by it
		index.Fields("sla_next_at").Annotations(entsql.IndexWhere("sla_next_at IS NOT NULL")),
	}
}
