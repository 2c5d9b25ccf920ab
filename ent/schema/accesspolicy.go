package schema

import (
	"encoding/json"

	"entgo.io/ent"
	"entgo.io/ent/dialect"
	"entgo.io/ent/schema/field"
)

// AccessPolicy is a rule that a company's admins wrote: it allows or denies an action on the rows that its condition
// describes, or has agents wait for a person's approval of it.
type AccessPolicy struct{ ent.Schema }

// Mixin adds the id, the times and the guard.
func (AccessPolicy) Mixin() []ent.Mixin {
	return []ent.Mixin{base{prefix: "pol", ruled: true}, tenant{}}
}

// Fields of the entity.
func (AccessPolicy) Fields() []ent.Field {
	return []ent.Field{
		field.String("name").MaxRuneLen(200),
		field.String("description").Default(""),
		field.Bool("enabled").Default(true),
		field.Enum("effect").Values("Allow", "Deny", "RequireApproval"),
		field.String("action").MaxLen(10).Comment("read create update delete, or * for all of them"),
		field.String("resource").MaxLen(40).Comment("Service, Request, …, or * for all of them"),
		field.JSON("condition", json.RawMessage{}).SchemaType(map[string]string{dialect.Postgres: "json"}).Comment("an object: {path: value}"),
		field.Int("version").Default(1).Comment("+1 with every change"),
		field.String("created_by").MaxLen(40).Immutable(),
	}
}
