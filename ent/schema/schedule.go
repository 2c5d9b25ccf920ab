package schema

import (
	"encoding/json"

	"entgo.io/ent"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Schedule is a plan to start a workflow or to file a request, again and again.
type Schedule struct{ ent.Schema }

// Mixin adds the id, the times and the guard.
func (Schedule) Mixin() []ent.Mixin {
	return []ent.Mixin{base{prefix: "sch", doc: "A plan to start a workflow or to file a request, again and again.", noun: "schedule", ruled: true, within: []string{"workflow_id", "offering_id"}}, tenant{}}
}

// Fields of the entity.
func (Schedule) Fields() []ent.Field {
	return []ent.Field{
		field.String("name").MaxRuneLen(200).Annotations(shown("What people call it.", eg("Weekly backup check"))),
		field.String("workflow_id").MaxLen(40).Optional().Nillable().Annotations(shown("The workflow that it starts; null when it files requests.", of("wf"))),
		field.String("offering_id").MaxLen(40).Optional().Nillable().Annotations(shown("The offering against which it files requests; null when it starts a workflow.", of("off"))),
		document("request", "what it files", shown("What it files: title, description, fields, tags, priority, requesterId. Null when it starts a workflow.", typed("JSON"), filled("*Object"), eg(`{"title": "Check the backups"}`))),
		field.String("cron").MaxLen(200).Optional().Nillable().Annotations(shown("Five fields: minute, hour, day of the month, month, day of the week; null when every says it.", eg("0 9 * * MON"))),
		raw(field.JSON("every", json.RawMessage{}).Optional().Annotations(shown("How often; null when cron says it.", typed("ScheduleEvery"), filled("*ScheduleEvery")))),
		field.String("time_zone").MaxLen(64).Annotations(shown("The zone whose clocks count, by its IANA name.", eg("Europe/Berlin"))),
		field.String("calendar_id").MaxLen(40).Optional().Nillable().Annotations(shown("The calendar whose free days count; null for none.", of("cal"))),
		field.Enum("on_closed").Values("SKIP", "NEXT_WORKING_DAY").Default("SKIP").Annotations(shown("What becomes of a time on a free day.")),
		field.Enum("missed").Values("ONCE", "SKIP").Default("ONCE").Annotations(shown("What becomes of times that passed while no server ran.")),
		field.Bool("enabled").Default(true).Annotations(shown("Whether it runs.")),
		field.Time("next_run_at").Optional().Nillable().Annotations(shown("When it runs next; null while it is disabled, and when no time is left.")),
		field.String("runs_as").MaxLen(40).Annotations(shown("As whom it runs: whoever saved it last.", typed("ID!"), of("usr"))),
		field.String("created_by").MaxLen(40).Immutable().Annotations(shown("Whoever made it.", typed("ID!"), of("usr"))),
	}
}

// Edges of the entity; in the database each is a composite key (company_id, id).
func (Schedule) Edges() []ent.Edge {
	return []ent.Edge{
		edge.To("workflow", Workflow.Type).Field("workflow_id").Unique(),
		edge.To("offering", Offering.Type).Field("offering_id").Unique(),
		edge.To("calendar", Calendar.Type).Field("calendar_id").Unique(),
	}
}

// Indexes beyond those of the mixins: for deleting what a schedule needs.
func (Schedule) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("company_id", "workflow_id"),
		index.Fields("company_id", "offering_id"),
		index.Fields("company_id", "calendar_id"),
	}
}
