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

// AgentVersion is what an agent was when it was published. Nothing of it ever changes, so that a run can say what it obeyed.
type AgentVersion struct{ ent.Schema }

// Mixin adds the id, the times and the guard.
func (AgentVersion) Mixin() []ent.Mixin {
	return []ent.Mixin{base{prefix: "agv"}, tenant{unlisted: true}}
}

// Fields of the entity.
func (AgentVersion) Fields() []ent.Field {
	return []ent.Field{
		field.String("agent_id").MaxLen(40).Immutable(),
		field.Int("version").Immutable().Comment("counts from 1 in each agent"),
		raw(field.JSON("settings", json.RawMessage{}).Immutable().SchemaType(map[string]string{dialect.Postgres: "json"}).Comment("the agent's settings as they were published")),
		field.Time("published_at").Immutable(),
		field.String("published_by").MaxLen(40).Immutable(),
	}
}

// Edges of the entity; in the database each is a composite key (company_id, id).
func (AgentVersion) Edges() []ent.Edge {
	return []ent.Edge{
		edge.To("agent", Agent.Type).Field("agent_id").Unique().Required().Immutable().Annotations(entsql.OnDelete(entsql.Cascade)),
	}
}

// Indexes beyond those of the mixins.
func (AgentVersion) Indexes() []ent.Index {
	return []ent.Index{index.Fields("company_id", "agent_id", "version").Unique()}
}
