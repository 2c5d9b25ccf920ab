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
	return []ent.Mixin{base{prefix: "whi", doc: "An address that starts a workflow when it is called.", noun: "webhook", ruled: true}, tenant{}}
}

// Fields of the entity.
func (InboundWebhook) Fields() []ent.Field {
	return []ent.Field{
		field.String("name").MaxRuneLen(200).Annotations(shown("What people call it.", also("url", "String!", "Where it is called."))),
		field.String("workflow_id").MaxLen(40).Annotations(shown("The workflow that each call starts.")),
		field.String("offering_id").MaxLen(40).Optional().Nillable().Comment("against which each call files a request").Annotations(shown("The offering against which each call files a request; null for none.")),
		document("field_mapping", "{title, description, priority, tags, requesterEmail, fields: {key: expression}}, of those requests",
			shown("What the request is made of: title, description, priority, tags, requesterEmail and fields, all of them CEL over webhook.", typed("JSON"))),
		field.String("when").MaxLen(4096).Optional().Nillable().Comment("a CEL expression over webhook; null for every call").Annotations(shown(
			"A CEL expression over webhook: other calls are answered as ignored and start nothing. Null: every call starts the workflow.")),
		field.String("preset").MaxLen(40).Optional().Nillable().Comment("the key of the sender that it was made for").Annotations(shown("The key of the sender that it was made for, of inboundPresets; null for none.")),
		field.JSON("headers", []string{}).Optional().Comment("by lower-case name; null for the usual ones").Annotations(shown(
			"The headers of calls that are kept, by lower-case name; * for all but credentials. Null: the usual ones of events.", typed("[String!]"))),
		field.Enum("signature_style").Values("hex", "standard", "github", "stripe", "slack", "pagerduty", "header", "bearer", "basic", "sns").Default("hex").Annotations(shown("How calls are signed.", typed("SignatureStyle!"))),
		document("signature", "{header, prefix, encoding, username, topicArn}, what the style needs besides the secret",
			shown("What the style needs besides the secret; null for nothing.", typed("InboundSignature"))),
		field.Bool("verify_signature").Default(true).Annotations(shown("Whether calls must be signed.")),
		field.Bool("enabled").Default(true).Annotations(shown("Whether it takes calls.", also("warning", "String", "What is dangerous about it; null for nothing."))),
		field.Bytes("secret_sealed").Sensitive(),
		field.Bytes("previous_sealed").Sensitive().Optional().Comment("the secret before, which still verifies until previous_until"),
		field.Time("previous_until").Optional().Nillable().Annotations(shown("Until when calls may be signed with the secret before, too; null without one.")),
		field.String("created_by").MaxLen(40).Immutable().Annotations(shown("The user who made it.", typed("ID!"))),
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
