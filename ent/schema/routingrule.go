package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// RoutingRule says to whom requests go when they are filed.
type RoutingRule struct{ ent.Schema }

// Mixin adds the id, the times and the guard.
func (RoutingRule) Mixin() []ent.Mixin {
	return []ent.Mixin{base{prefix: "rul", doc: "Says to whom requests go when they are filed. The first that holds counts.", noun: "rule", ruled: true}, tenant{}}
}

// Fields of the entity.
func (RoutingRule) Fields() []ent.Field {
	return []ent.Field{
		field.String("name").MaxRuneLen(200).Annotations(shown("What people call it.")),
		field.Int("position").Positive().Comment("the rule of the lowest one that holds counts; the older one of equals").Annotations(shown("Where it stands among the rules; of equals the older comes first.")),
		field.String("when").MaxLen(4096).Comment("a CEL expression over request").Annotations(shown("A CEL expression over request. One that reads what a request does not have does not hold.")),
		field.String("team_id").MaxLen(40).Optional().Nillable().Annotations(shown("The team that gets the request.")),
		field.Enum("assign_to").Values("none", "leastLoaded", "roundRobin").Default("none").Annotations(shown("Whom of the team.", typed("RoutingAssignment!"))),
		field.Enum("priority").Values("LOW", "MEDIUM", "HIGH", "URGENT").Optional().Nillable().Annotations(shown("The priority that the request gets.", typed("RequestPriority"))),
		field.Bool("enabled").Default(true).Annotations(shown("Whether it counts.")),
		field.String("last_assignee_id").MaxLen(40).Optional().Nillable().StructTag(`audit:"-"`).Comment("whose turn it was last, of roundRobin"),
	}
}

// Edges of the entity; in the database each is a composite key (company_id, id).
func (RoutingRule) Edges() []ent.Edge {
	return []ent.Edge{edge.To("team", Team.Type).Field("team_id").Unique()}
}

// Indexes beyond those of the mixins.
func (RoutingRule) Indexes() []ent.Index {
	return []ent.Index{index.Fields("company_id", "position", "created_at", "id"), index.Fields("company_id", "team_id")}
}
