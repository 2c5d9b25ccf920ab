package schema

import (
	"encoding/json"

	"entgo.io/ent"
	"entgo.io/ent/dialect"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Workflow is a process definition that requests run through.
type Workflow struct{ ent.Schema }

// Mixin adds the id, the times and the guard.
func (Workflow) Mixin() []ent.Mixin { return []ent.Mixin{base{prefix: "wf", ruled: true}, tenant{}} }

// Fields of the entity.
func (Workflow) Fields() []ent.Field {
	return []ent.Field{
		field.String("name").MaxRuneLen(200),
		field.String("slug").MaxLen(63),
		field.String("description").Default(""),
		field.Enum("status").Values("draft", "active", "archived").Default("draft"),
		field.Int("version").Default(0).Comment("of the last published definition; 0 before the first"),
		field.JSON("definition", json.RawMessage{}).SchemaType(map[string]string{dialect.Postgres: "json"}).Comment("the draft, read back as it was sent"),
	}
}

// Indexes beyond those of the mixins.
func (Workflow) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("company_id", "slug").Unique(),
		index.Fields("company_id", "name", "id"),
		index.Fields("company_id", "updated_at", "id"),
	}
}
