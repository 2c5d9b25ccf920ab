package schema

import (
	"encoding/json"
	"maps"

	"entgo.io/ent"
	"entgo.io/ent/dialect"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
)

// document is a column of JSON that is read back as it was written: the order of its keys and the digits of its numbers.
func document(name, comment string, more ...schema.Annotation) ent.Field {
	return raw(field.JSON(name, json.RawMessage{}).Optional().SchemaType(map[string]string{dialect.Postgres: "json"}).Comment(comment).Annotations(more...))
}

// raw has the bytes of a column of json.RawMessage saved and loaded as they are. Ent would write the JSON anew when it saves, which is
// inside of a transaction, for which on SQLite all companies wait, and check it when it loads: 10 to 20 ms for each mebibyte.
func raw(f ent.Field) ent.Field {
	d := f.Descriptor()
	types := map[string]string{dialect.SQLite: "json", dialect.Postgres: "jsonb"}
	maps.Copy(types, d.SchemaType)
	d.Info.Type, d.SchemaType = field.TypeBytes, types
	return f
}
