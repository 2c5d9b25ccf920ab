package schema

import (
	"encoding/json"

	"entgo.io/ent"
	"entgo.io/ent/dialect"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
)

// document is a column of JSON that is read back as it was written: the order of its keys and the digits of its numbers.
func document(name, comment string, more ...schema.Annotation) ent.Field {
	return field.JSON(name, json.RawMessage{}).Optional().SchemaType(map[string]string{dialect.Postgres: "json"}).Comment(comment).Annotations(more...)
}
