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

// DueNever orders what is never due behind everything else: the last millisecond of the year 9999.
const DueNever = int64(253402300799999)

// Request is what a person filed against an offering.
type Request struct{ ent.Schema }

// Mixin adds the id, the times and the guard.
func (Request) Mixin() []ent.Mixin { return []ent.Mixin{base{prefix: "req", ruled: true}, tenant{}} }

// Fields of the entity.
func (Request) Fields() []ent.Field {
	return []ent.Field{
		field.String("service_id").MaxLen(40),
		field.String("offering_id").MaxLen(40),
		field.String("title").MaxRuneLen(300),
		field.String("description").Default(""),
		field.Enum("status").Values("PENDING", "IN_PROGRESS", "COMPLETED", "CANCELLED").Default("PENDING"),
		field.Enum("priority").Values("LOW", "MEDIUM", "HIGH", "URGENT").Default("MEDIUM"),
		field.Int8("priority_rank").Default(2).StructTag(`audit:"-"`).Comment("1 to 4, what sort=priority orders by; follows priority, which the audit log tells of"),
		field.JSON("fields", json.RawMessage{}).Optional().SchemaType(map[string]string{dialect.Postgres: "json"}).Comment("an object, as it is answered: nobody reads it in between"),
		field.JSON("tags", map[string]string{}).Optional(),
		field.String("created_by").MaxLen(40).Immutable(),
		field.String("assignee_id").MaxLen(40).Optional().Nillable(),
		field.String("team_id").MaxLen(40).Optional().Nillable(),
		field.String("execution_id").MaxLen(40).Optional().Nillable().Comment("of the workflow that processes it; a key would close a circle with the execution's own"),
		field.String("routing_rule_id").MaxLen(40).Optional().Nillable().Immutable().Comment("of the rule that held when it was filed, which may be gone"),
		field.Bool("waiting").Default(false).Comment("for an answer of the requester: the clock of the resolution stands still"),
		field.Time("snoozed_until").Optional().Nillable(),
		field.Time("accepted_at").Optional().Nillable(),
		field.Time("completed_at").Optional().Nillable(),
		field.Time("cancelled_at").Optional().Nillable(),
		field.String("decline_reason").Optional().Nillable().StructTag(`audit:"-"`).Comment("of a request that was declined, for its requester; the audit entry has it as reason"),
		// What the clock comes to, derived anew in the transaction of whatever moves it: see internal/desk/sla.
		field.Time("response_due_at").Optional().Nillable().StructTag(`audit:"-"`),
		field.Time("resolution_due_at").Optional().Nillable().StructTag(`audit:"-"`).Comment("null while the clock stands still"),
		field.Int64("response_due_order").Default(DueNever).StructTag(`audit:"-"`).Comment("what lists order by: response_due_at in milliseconds, DueNever for null"),
		field.Int64("resolution_due_order").Default(DueNever).StructTag(`audit:"-"`).Comment("likewise of resolution_due_at"),
		field.Enum("sla_state").Values("ON_TRACK", "WARNING", "BREACHED", "MET", "PAUSED").Optional().Nillable().StructTag(`audit:"-"`),
		field.Time("sla_next_at").Optional().Nillable().StructTag(`audit:"-"`).Comment("when the sweep has something to do for it"),
	}
}

// Edges of the entity; in the database each is a composite key (company_id, id).
func (Request) Edges() []ent.Edge {
	return []ent.Edge{
		edge.To("service", Service.Type).Field("service_id").Unique().Required(),
		edge.To("offering", Offering.Type).Field("offering_id").Unique().Required(),
		edge.To("assignee", User.Type).Field("assignee_id").Unique(),
		edge.To("team", Team.Type).Field("team_id").Unique(),
	}
}

// Indexes beyond those of the mixins.
func (Request) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("company_id", "status", "created_at", "id"),
		index.Fields("company_id", "priority_rank", "created_at", "id"),
		index.Fields("company_id", "service_id", "created_at", "id"),
		index.Fields("company_id", "service_id", "status", "created_at", "id"), // the open ones of a service, and how many they are
		index.Fields("company_id", "offering_id", "created_at", "id"),
		index.Fields("company_id", "created_by", "created_at", "id"),
		index.Fields("company_id", "assignee_id", "created_at", "id"),
		index.Fields("company_id", "team_id", "created_at", "id"),
		index.Fields("company_id", "updated_at", "id"),
		index.Fields("company_id", "response_due_order", "id"),
		index.Fields("company_id", "resolution_due_order", "id"),
		index.Fields("company_id", "sla_state", "created_at", "id").Annotations(entsql.IndexWhere("sla_state IS NOT NULL")),
		index.Fields("sla_next_at").Annotations(entsql.IndexWhere("sla_next_at IS NOT NULL")), // the sweep looks at all companies together
	}
}
