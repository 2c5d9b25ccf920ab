package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"

	"atrium/internal/desk/form"
	"atrium/internal/desk/sla"
)

// Offering is one way to ask a service for something: a form, a workflow and service levels.
type Offering struct{ ent.Schema }

// Mixin adds the id, the times and the guard.
func (Offering) Mixin() []ent.Mixin {
	return []ent.Mixin{base{prefix: "off", doc: "One way to ask a service for something.", noun: "offering", ruled: true, within: []string{"service_id"}}, tenant{}}
}

// Fields of the entity.
func (Offering) Fields() []ent.Field {
	return []ent.Field{
		field.String("service_id").MaxLen(40).Immutable().Annotations(shown("The service that it belongs to.", of("svc"))),
		field.String("name").MaxRuneLen(200).Annotations(shown("What people call it.", eg("New laptop"))),
		field.String("slug").MaxLen(63).Annotations(shown("Its name in addresses; unique in the service.", eg("new-laptop"))),
		field.String("description").Default("").Annotations(shown("What it is about.", typed("String"), eg("A laptop, set up and delivered"))),
		field.Enum("status").Values("active", "inactive").Default("active").Annotations(shown("Whether it takes requests.")),
		field.JSON("form", &form.Definition{}).Optional().Annotations(shown("What a request must say; without a form it may say anything.", typed("JSON"), filled("*Form"))),
		field.String("workflow_id").MaxLen(40).Optional().Nillable().Annotations(shown("The workflow that its requests run through.", of("wf"), also("sla", "OfferingSLA", "How soon its requests should be dealt with.", filled("*OfferingSLA")))),
		field.Int("reopen_days").Default(7).Annotations(shown("For how many days after its completion the requester may open a request again; 0 for never. What they say later becomes a new request, linked with it. Staff always may.", eg("7"))),
		field.String("reopen_workflow_id").MaxLen(40).Optional().Nillable().Comment("without a key, which would copy the table on SQLite: who sets it holds the workflow's row").Annotations(shown("The workflow that a request runs through when it is opened again; none when null.", of("wf"))),
		field.Bool("ask_satisfaction").Default(false).Annotations(shown("Whether the requester is asked, once a request is completed, how content they are.", eg("true"))),
		field.String("calendar_id").MaxLen(40).Optional().Nillable().Comment("of the service levels"),
		field.Int("response_minutes").Optional().Nillable(),
		field.Int("resolution_minutes").Optional().Nillable(),
		field.Int("warn_at_percent").Optional().Nillable(),
		field.JSON("sla_by_priority", &sla.ByPriority{}).Optional(),
		field.JSON("sla_escalations", []sla.Escalation{}).Optional(),
		field.JSON("tags", map[string]string{}).Optional().Annotations(shown("Texts by key, for access policies.", eg(`{"site": "berlin"}`))),
	}
}

// Edges of the entity; in the database each is a composite key (company_id, id).
func (Offering) Edges() []ent.Edge {
	return []ent.Edge{
		edge.To("service", Service.Type).Field("service_id").Unique().Required().Immutable(),
		edge.To("workflow", Workflow.Type).Field("workflow_id").Unique(),
		edge.To("calendar", Calendar.Type).Field("calendar_id").Unique(),
	}
}

// Indexes beyond those of the mixins.
func (Offering) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("company_id", "service_id", "slug").Unique(),
		index.Fields("company_id", "service_id", "created_at", "id"),
		index.Fields("company_id", "workflow_id"),
		index.Fields("company_id", "calendar_id"),
	}
}
