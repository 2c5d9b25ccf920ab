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
	return []ent.Mixin{base{prefix: "pol", doc: "A rule about who may do what to which rows.", noun: "policy", ruled: true}, tenant{}}
}

// Fields of the entity.
func (AccessPolicy) Fields() []ent.Field {
	return []ent.Field{
		field.String("name").MaxRuneLen(200).Annotations(shown("What people call it.")),
		field.String("description").Default("").Annotations(shown("What it is for.", typed("String"))),
		field.Bool("enabled").Default(true).Annotations(shown("Whether it counts.")),
		field.Enum("effect").Values("Allow", "Deny", "RequireApproval").Annotations(shown("What it does.", typed("AccessEffect!"))),
		field.String("action").MaxLen(10).Comment("read create update delete, or * for all of them").Annotations(shown("read, create, update, delete, or * for all of them.")),
		field.String("resource").MaxLen(40).Comment("Service, Request, …, or * for all of them").Annotations(shown("Service, Request, …, or * for all of them.")),
		raw(field.JSON("condition", json.RawMessage{}).SchemaType(map[string]string{dialect.Postgres: "json"}).Comment("an object: {path: value}").Annotations(shown("What must hold, all of it: {path: value}. {} holds always."))),
		field.Int("version").Default(1).Comment("+1 with every change").Annotations(shown("+1 with every change.")),
		field.String("created_by").MaxLen(40).Immutable().Annotations(shown("The user who made it.", typed("ID!"))),
	}
}
