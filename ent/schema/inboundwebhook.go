package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// InboundWebhook is an address that starts a workflow when somebody outside calls it.
type InboundWebhook struct{ ent.Schema }

// Mixin adds the id, the times and the guard.
func (InboundWebhook) Mixin() []ent.Mixin {
	return []ent.Mixin{base{prefix: "whi", ruled: true}, tenant{}}
}

// Fields of the entity.
func (InboundWebhook) Fields() []ent.Field {
	return []ent.Field{
		field.String("name").MaxRuneLen(200),
		field.String("workflow_id").MaxLen(40),
		field.String("offering_id").MaxLen(40).Optional().Nillable().Comment("against which each call files a request"),
		document("field_mapping", "{title, priority, fields: {key: expression}}, of those requests"),
		field.Enum("signature_style").Values("hex", "standard", "github", "stripe", "slack", "pagerduty").Default("hex"),
		field.Bool("verify_signature").Default(true),
		field.Bool("enabled").Default(true),
		field.Bytes("secret_sealed").Sensitive(),
		field.Bytes("previous_sealed").Sensitive().Optional().Comment("the secret before, which still verifies until previous_until"),
		field.Time("previous_until").Optional().Nillable(),
		field.String("created_by").MaxLen(40).Immutable(),
	}
}

// Edges of the entity; in the database each is a composite key (company_id, id).
func (InboundWebhook) Edges() []ent.Edge {
	return []ent.Edge{
		edge.To("workflow", Workflow.Type).Field("workflow_id").Unique().Required(),
		edge.To("offering", Offering.Type).Field("offering_id").Unique(),
	}
}

// Indexes beyond those of the mixins: for deleting what a webhook needs.
func (InboundWebhook) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("company_id", "workflow_id"),
		index.Fields("company_id", "offering_id"),
	}
}
