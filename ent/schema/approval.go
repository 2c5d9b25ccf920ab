package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Approval is what a phase of an execution asks somebody to decide.
type Approval struct{ ent.Schema }

// Mixin adds the id, the times and the guard.
func (Approval) Mixin() []ent.Mixin {
	return []ent.Mixin{base{prefix: "apr", doc: "What a phase of an execution asks somebody to decide.", noun: "approval", final: true, ruled: true, within: []string{"request_id"}}, tenant{}}
}

// Fields of the entity.
func (Approval) Fields() []ent.Field {
	return []ent.Field{
		field.String("execution_id").MaxLen(40).Immutable().Annotations(shown("The execution that it is part of.", of("exe"))),
		field.String("request_id").MaxLen(40).Optional().Nillable().Immutable().Annotations(shown("The request that it is about.", of("req"))),
		field.String("phase_id").MaxLen(63).Immutable().Annotations(shown("The phase of the execution.", typed("String!"), eg("approve"))),
		field.Int("visit").Immutable().Comment("of the phase, by its number in the execution"),
		field.Int("attempt").Immutable().Comment("of the visit: no two approvals of one visit have the same"),
		field.String("title").MaxRuneLen(1000).Comment("an erasure alone changes it").Annotations(shown("What is to be decided, in a line.", eg("Approve the purchase"))),
		field.Enum("status").Values("PENDING", "APPROVED", "REJECTED", "EXPIRED", "CANCELLED").Default("PENDING").Annotations(shown("How it stands; CANCELLED with its execution.")),
		field.Bool("sign_off").Default(false).Immutable().Comment("it is about the outcome of the phase's task").Annotations(shown("Whether it is about the outcome of the phase's task.", eg("false"))),
		field.Enum("mode").Values("any", "all", "quorum").Immutable().Annotations(shown("Whose decisions settle it.")),
		field.Int("quorum").Default(0).Immutable().Comment("of the mode quorum").Annotations(shown("How many must approve, with the mode quorum.", eg("0"))),
		field.Bool("sequential").Default(false).Immutable().Annotations(shown("Whether the approvers decide in the order of the list.", eg("false"))),
		document("approvers", "[{type, id}], by their places; who delegates puts another one into its own", shown("Who decides.", typed("[Approver!]!"), filled("[]Approver"))),
		document("decisions", "[{approver, by, approve, comment, at}], in the order in which they came", shown("What they decided, in the order in which it came.", typed("[ApprovalDecision!]!"), filled("[]Decision"), also("viewerMayDecide", "Boolean!", "Whether decideApproval would take a decision of the caller now: as an approver, whose turn it is, and who has not decided."), also("shown", "[ShownPhase!]!", "What it shows of earlier results, in the order in which they came: those of the phases that its own names, or else those since the last decision, and of a sign-off the result of its task.", filled("[]ShownPhase")))),
		field.Time("expires_at").Optional().Nillable().Annotations(shown("Until when they may decide.")),
	}
}

// Edges of the entity; in the database each is a composite key (company_id, id).
func (Approval) Edges() []ent.Edge {
	return []ent.Edge{
		edge.To("execution", Execution.Type).Field("execution_id").Unique().Required().Immutable().Annotations(entsql.OnDelete(entsql.Cascade)),
		edge.To("request", Request.Type).Field("request_id").Unique().Immutable(),
	}
}

// Indexes beyond those of the mixins.
func (Approval) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("company_id", "execution_id", "visit", "attempt").Unique(),
		index.Fields("company_id", "status", "created_at", "id"),
		index.Fields("company_id", "updated_at", "id"),
		index.Fields("company_id", "request_id", "created_at", "id"),
	}
}
