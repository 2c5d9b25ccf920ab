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

// WorkflowVersion is a definition as it was published. Nothing of it ever changes, so that executions can be pinned to it;
// it goes with its workflow.
type WorkflowVersion struct{ ent.Schema }

// Mixin adds the id, the times and the guard.
func (WorkflowVersion) Mixin() []ent.Mixin {
	return []ent.Mixin{base{prefix: "wfv"}, tenant{unlisted: true}}
}

// Fields of the entity.
func (WorkflowVersion) Fields() []ent.Field {
	return []ent.Field{
		field.String("workflow_id").MaxLen(40).Immutable(),
		field.Int("version").Immutable().Comment("counts from 1 in each workflow"),
		raw(field.JSON("definition", json.RawMessage{}).Immutable().SchemaType(map[string]string{dialect.Postgres: "json"}).Comment("read back as it was sent")),
		field.JSON("uses", []string{}).Optional().Immutable().Comment("what it names in the company, as kind:id; none where the version was made before this was noted"),
		field.Time("published_at").Immutable(),
		field.String("published_by").MaxLen(40).Immutable(),
	}
}

// Edges of the entity; in the database each is a composite key (company_id, id).
func (WorkflowVersion) Edges() []ent.Edge {
	return []ent.Edge{
		edge.To("workflow", Workflow.Type).Field("workflow_id").Unique().Required().Immutable().Annotations(entsql.OnDelete(entsql.Cascade)),
	}
}

// Indexes beyond those of the mixins.
func (WorkflowVersion) Indexes() []ent.Index {
	return []ent.Index{index.Fields("company_id", "workflow_id", "version").Unique()}
}
