package schema

import (
	"encoding/json"

	"entgo.io/ent"
	"entgo.io/ent/dialect"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// AccessPolicyVersion is one change of an access policy: who made it, and what the policy said before. It outlives the
// policy.
type AccessPolicyVersion struct{ ent.Schema }

// Mixin adds the id, the times and the guard.
func (AccessPolicyVersion) Mixin() []ent.Mixin {
	return []ent.Mixin{base{prefix: "plv"}, tenant{unlisted: true}}
}

// Fields of the entity.
func (AccessPolicyVersion) Fields() []ent.Field {
	return []ent.Field{
		field.String("policy_id").MaxLen(40).Immutable(),
		field.Int("version").Immutable().Comment("that the change made"),
		field.Enum("change").Values("created", "updated", "deleted").Immutable(),
		field.String("actor_type").MaxLen(20).Immutable(),
		field.String("actor_id").MaxLen(40).Immutable(),
		field.String("actor_name").MaxRuneLen(200).Comment("an erasure alone changes it"),
		raw(field.JSON("before", json.RawMessage{}).Optional().Immutable().SchemaType(map[string]string{dialect.Postgres: "json"}).Comment("the policy as it was; none for the first version")),
	}
}

// Indexes beyond those of the mixins.
func (AccessPolicyVersion) Indexes() []ent.Index {
	return []ent.Index{index.Fields("company_id", "policy_id", "version").Unique()}
}
