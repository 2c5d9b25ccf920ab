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
func (Workflow) Mixin() []ent.Mixin {
	return []ent.Mixin{base{prefix: "wf", doc: "A process that requests run through.", noun: "workflow", ruled: true}, tenant{}}
}

// Fields of the entity.
func (Workflow) Fields() []ent.Field {
	return []ent.Field{
		field.String("name").MaxRuneLen(200).Annotations(shown("What people call it.", eg("Laptop order"))),
		field.String("slug").MaxLen(63).Annotations(shown("Its name in addresses; unique in the company.", eg("laptop-order"))),
		field.String("description").Default("").Annotations(shown("What it is for.", typed("String"), eg("Approval, order, delivery"))),
		field.Enum("status").Values("draft", "active", "archived").Default("draft").Annotations(shown("Whether it runs.", eg("active"))),
		field.Int("version").Default(0).Comment("of the last published definition; 0 before the first").Annotations(shown("Of the last published definition; 0 before the first.", eg("1"))),
		raw(field.JSON("definition", json.RawMessage{}).SchemaType(map[string]string{dialect.Postgres: "json"}).Comment("the draft, read back as it was sent").Annotations(shown("The draft, as it was sent.", filled("Object"), eg(`{"phases": [{"id": "start", "type": "START"}, {"id": "end", "type": "END"}], "transitions": [{"from": "start", "name": "next", "to": "end"}]}`)))),
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
