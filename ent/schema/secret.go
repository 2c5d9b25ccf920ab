package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Secret is a named value that workflows may use and nobody can read back; it is sealed under the master key.
type Secret struct{ ent.Schema }

// Mixin adds the id, the times and the guard.
func (Secret) Mixin() []ent.Mixin { return []ent.Mixin{base{prefix: "sec", ruled: true}, tenant{}} }

// Fields of the entity.
func (Secret) Fields() []ent.Field {
	return []ent.Field{
		field.String("name").MaxRuneLen(64),
		field.String("description").Default(""),
		field.Int("version").Default(1),
		field.Bytes("sealed").Sensitive(),
		field.String("created_by").MaxLen(40).Immutable(),
		field.Time("last_used_at").Optional().Nillable(),
	}
}

// Indexes beyond those of the mixins.
func (Secret) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("company_id", "name").Unique(),
		index.Fields("company_id", "updated_at", "id"),
	}
}
