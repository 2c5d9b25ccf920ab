package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
)

// Setting is a value that belongs to the installation, such as the development clock's offset.
type Setting struct{ ent.Schema }

// Mixin adds the id, the times and the guard.
func (Setting) Mixin() []ent.Mixin { return []ent.Mixin{global{}} }

// Fields of the entity.
func (Setting) Fields() []ent.Field {
	return []ent.Field{
		field.String("id").MaxLen(64).Immutable(),
		field.String("value"),
	}
}
