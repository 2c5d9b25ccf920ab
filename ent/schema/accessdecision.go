package schema

import (
	"encoding/json"

	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// AccessDecision is one answer to whether a caller may do something: every refusal, and a sample of what was allowed.
type AccessDecision struct{ ent.Schema }

// Mixin adds the id, the times and the guard.
func (AccessDecision) Mixin() []ent.Mixin {
	return []ent.Mixin{base{prefix: "dec", ruled: true}, tenant{}}
}

// Fields of the entity.
func (AccessDecision) Fields() []ent.Field {
	return []ent.Field{
		field.String("principal_type").MaxLen(20).Immutable(),
		field.String("principal_id").MaxLen(40).Immutable(),
		field.String("principal_name").MaxRuneLen(200).Immutable(),
		field.String("key_id").MaxLen(40).Optional().Nillable().Immutable().Comment("the API key, where one was used"),
		field.String("method").MaxLen(20).Immutable(),
		field.String("verb").MaxLen(64).Immutable().Comment("what roles grant: request.accept"),
		field.String("action").MaxLen(10).Immutable().Comment("what policies name: update"),
		field.String("resource_type").MaxLen(40).Immutable(),
		field.String("resource_id").MaxLen(64).Optional().Nillable().Immutable(),
		field.Bool("allowed").Immutable(),
		field.String("decided_kind").MaxLen(20).Immutable().Comment("scope, method, role or policy"),
		field.String("decided_id").MaxLen(64).Immutable(),
		field.String("policies").MaxLen(64).Immutable().Comment("the version of the company's policies that it was made by"),
		field.String("bundle").MaxLen(64).Immutable().Comment("the version of the Rego that it was made by"),
		field.String("request_id").MaxLen(64).Immutable(),
		raw(field.JSON("input", json.RawMessage{}).Optional().Immutable().Comment("what policies looked at, so that others can be tried on it")),
	}
}

// Indexes beyond those of the mixins.
func (AccessDecision) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("company_id", "allowed", "created_at", "id"),
		index.Fields("created_at"),
	}
}
