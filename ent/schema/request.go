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

// OpenRequest lists the statuses of open requests as SQL.
const OpenRequest = "'PENDING', 'IN_PROGRESS'"

// Request is what a person filed against an offering.
type Request struct{ ent.Schema }

// Mixin adds the id, the times and the guard.
func (Request) Mixin() []ent.Mixin {
	return []ent.Mixin{base{prefix: "req", doc: "What a person filed against an offering.", noun: "request", ruled: true}, tenant{}}
}

// Fields of the entity.
func (Request) Fields() []ent.Field {
	return []ent.Field{
		field.Int64("number").Optional().Immutable().StructTag(`audit:"-"`).Comment("null for an instant, where the release before inserts: a trigger numbers the row").
			Annotations(shown("Its number in the company, from 1: people call it #1042. Numbers may be left out.", typed("Int!"), eg("1042"))),
		field.String("service_id").MaxLen(40).Annotations(shown("The service that it is made against.", of("svc"))),
		field.String("offering_id").MaxLen(40).Annotations(shown("The offering that it is made against.", of("off"))),
		field.String("title").MaxRuneLen(300).Annotations(shown("What it is about, in a line.", eg("Laptop for a new colleague"))),
		field.String("description").Default("").Annotations(shown("What it is about, in full.", typed("String"), eg("She starts on Monday."))),
		field.Enum("format").Values("plain", "markdown").Default("plain").StructTag(`audit:"-"`).Annotations(shown("How the description is written.", typed("TextFormat!"))),
		field.Enum("status").Values("PENDING", "IN_PROGRESS", "COMPLETED", "CANCELLED").Default("PENDING").Annotations(shown("Where it is in its life.")),
		field.Enum("priority").Values("LOW", "MEDIUM", "HIGH", "URGENT").Default("MEDIUM").Annotations(shown("How urgent it is.", eg("MEDIUM"))),
		field.Int8("priority_rank").Default(2).StructTag(`audit:"-"`).Comment("1 to 4, what sort=priority orders by; follows priority, which the audit log tells of"),
		raw(field.JSON("fields", json.RawMessage{}).Optional().SchemaType(map[string]string{dialect.Postgres: "json"}).Comment("an object, as it is answered: nobody reads it in between").Annotations(shown("The answers to the offering's form, by field key.", eg(`{"model": "14 inch", "memory": 32}`)))),
		field.JSON("tags", map[string]string{}).Optional().Annotations(shown("Texts by key, for filters and access policies.", eg(`{"site": "berlin"}`))),
		field.String("created_by").MaxLen(40).Immutable().Annotations(shown("The user or service account that filed it, or the inbound webhook whose call did.", typed("ID!"), of("usr"))),
		field.String("requester_id").MaxLen(40).Optional().Immutable().Comment("null for an instant, where the release before inserts: a trigger sets created_by").
			Annotations(shown("For whom it is; who filed it, unless they said otherwise.", typed("ID!"), of("usr"))),
		field.String("assignee_id").MaxLen(40).Optional().Nillable().Annotations(shown("The user who deals with it.", of("usr"))),
		field.String("team_id").MaxLen(40).Optional().Nillable().Annotations(shown("The team that deals with it.", of("team"))),
		field.String("execution_id").MaxLen(40).Optional().Nillable().Comment("of the workflow that processes it; a key would close a circle with the execution's own").Annotations(shown("The workflow execution that processes it.", of("exe"))),
		field.String("routing_rule_id").MaxLen(40).Optional().Nillable().Immutable().Comment("of the rule that held when it was filed, which may be gone").Annotations(shown("The routing rule that held when it was filed, which may be gone.", of("rul"))),
		field.Bool("waiting").Default(false).Comment("for an answer of the requester: the clock of the resolution stands still").Annotations(shown("Whether the requester owes an answer. The clock of the resolution stands still.")),
		field.Time("snoozed_until").Optional().Nillable().Annotations(shown("Until when nobody wants to see it in the inbox.", also("sla", "SLA", "Where it stands against its service levels; null when nothing is promised.", filled("*RequestSLA")))),
		field.Time("first_response_at").Optional().Nillable().StructTag(`audit:"-"`).Comment("null for an instant, where the release before accepts: whoever reads it falls back on accepted_at").
			Annotations(shown("When the requester first got a response: the first public comment of staff or of an agent, or the acceptance.")),
		field.Time("accepted_at").Optional().Nillable().Annotations(shown("When it was accepted.")),
		field.Time("completed_at").Optional().Nillable().Annotations(shown("When it was completed; null while it is open again.")),
		field.Int("reopen_count").Default(0).Annotations(shown("How often it was opened again.", eg("0"))),
		field.Time("cancelled_at").Optional().Nillable().Annotations(shown("When it was cancelled.")),
		field.Time("merged_at").Optional().Nillable().StructTag(`audit:"-"`).Annotations(shown("When it was closed as a duplicate of another one; null for any other.")),
		field.String("decline_reason").Optional().Nillable().StructTag(`audit:"-"`).Comment("of a request that was declined, for its requester; the audit entry has it as reason").Annotations(shown("Why it was declined; null when nobody has said.", eg("We have none left."))),
		field.Int("satisfaction").Optional().Nillable().Annotations(shown("How content the requester is, from 1 to 5; null while they have not said.", typed("Int"), eg("5"))),
		field.String("satisfaction_comment").Optional().Nillable().Annotations(shown("What the requester said about how content they are.", eg("Quick and friendly."))),
		field.Time("satisfaction_asked_at").Optional().Nillable().StructTag(`audit:"-"`).Comment("once, when it was first completed"),
		field.Time("satisfaction_at").Optional().Nillable().StructTag(`audit:"-"`).Comment("when the requester first said how content they are"),
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
		index.Fields("company_id", "number").Unique(),
		index.Fields("company_id", "status", "created_at", "id"),
		index.Fields("company_id", "priority_rank", "created_at", "id"),
		index.Fields("company_id", "service_id", "created_at", "id"),
		index.Fields("company_id", "service_id", "status", "created_at", "id"), // the open ones of a service, and how many they are
		index.Fields("company_id", "offering_id", "created_at", "id"),
		index.Fields("company_id", "created_by", "created_at", "id"),
		index.Fields("company_id", "requester_id", "created_at", "id"),
		index.Fields("company_id", "assignee_id", "created_at", "id"),
		index.Fields("company_id", "team_id", "created_at", "id"),
		// What inboxes show and count, without the many that have ended. With the status in it, SQLite needs no rows to count.
		index.Fields("company_id", "assignee_id", "created_at", "id", "team_id", "status").StorageKey("requests_open").
			Annotations(entsql.IndexWhere("status IN (" + OpenRequest + ")")),
		index.Fields("company_id", "updated_at", "id"),
		index.Fields("company_id", "completed_at", "created_at").Annotations(entsql.IndexWhere("completed_at IS NOT NULL")), // what ended in a report's time
		index.Fields("company_id", "cancelled_at", "created_at").Annotations(entsql.IndexWhere("cancelled_at IS NOT NULL")),
		index.Fields("company_id", "satisfaction", "created_at", "id").Annotations(entsql.IndexWhere("satisfaction IS NOT NULL")),
		index.Fields("company_id", "response_due_order", "id"),
		index.Fields("company_id", "resolution_due_order", "id"),
		index.Fields("company_id", "sla_state", "created_at", "id").Annotations(entsql.IndexWhere("sla_state IS NOT NULL")),
		index.Fields("sla_next_at").Annotations(entsql.IndexWhere("sla_next_at IS NOT NULL")), // the sweep looks at all companies together
	}
}
