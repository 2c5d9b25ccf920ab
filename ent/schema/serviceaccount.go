package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
)

// ServiceAccount is a caller that is no person; API keys may stand on it.
type ServiceAccount struct{ ent.Schema }

// Mixin adds the id, the times and the guard.
func (ServiceAccount) Mixin() []ent.Mixin {
	return []ent.Mixin{base{prefix: "sa", doc: "A caller that is no person; API keys may stand on it.", noun: "service account", ruled: true}, tenant{}}
}

// Fields of the entity.
func (ServiceAccount) Fields() []ent.Field {
	return []ent.Field{
		field.String("name").MaxRuneLen(200).Annotations(shown("What people call it.")),
		field.Enum("role").Values("owner", "admin", "agent", "member").Default("member").Annotations(shown("What it may do.", typed("Role!"))),
		field.Bool("enabled").Default(true).Comment("the keys of one that is not are refused").Annotations(shown("Its API keys work.")),
		field.String("live_account_id").MaxLen(40).Optional().Nillable().Immutable(),
	}
}
