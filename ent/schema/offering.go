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
	return []ent.Mixin{base{prefix: "off", ruled: true, within: []string{"service_id"}}, tenant{}}
}

// Fields of the entity.
func (Offering) Fields() []ent.Field {
	return []ent.Field{
		field.String("service_id").MaxLen(40).Immutable(),
		field.String("name").MaxRuneLen(200),
		field.String("slug").MaxLen(63),
		field.String("description").Default(""),
		field.Enum("status").Values("active", "inactive").Default("active"),
		field.JSON("form", &form.Definition{}).Optional(),
		field.String("workflow_id").MaxLen(40).Optional().Nillable(),
		field.String("calendar_id").MaxLen(40).Optional().Nillable().Comment("of the service levels"),
		field.Int("response_minutes").Optional().Nillable(),
		field.Int("resolution_minutes").Optional().Nillable(),
		field.Int("warn_at_percent").Optional().Nillable(),
		field.JSON("sla_by_priority", &sla.ByPriority{}).Optional(),
		field.JSON("sla_escalations", []sla.Escalation{}).Optional(),
		field.JSON("tags", map[string]string{}).Optional(),
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
