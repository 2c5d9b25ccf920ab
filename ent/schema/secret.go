package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Secret is a named value that workflows may use and nobody can read back; it is sealed under the master key.
type Secret struct{ ent.Schema }

// Mixin adds the id, the times and the guard.
func (Secret) Mixin() []ent.Mixin {
	return []ent.Mixin{base{prefix: "sec", doc: "A named value that workflows may use and nobody can read back.", noun: "secret", ruled: true}, tenant{}}
}

// Fields of the entity.
func (Secret) Fields() []ent.Field {
	return []ent.Field{
		field.String("name").MaxRuneLen(64).Annotations(shown("What workflows call it: secrets.NAME.", eg("ERP_TOKEN"))),
		field.String("description").Default("").Annotations(shown("What it is for.", typed("String"), eg("For the ordering system"))),
		field.JSON("allowed_hosts", []string{}).Optional().Comment("null for one from before there were such lists: it may go anywhere").
			Annotations(shown("The hosts to which calls may send it, such as erp.example.com, *.example.com for the names below it, or * for all; null for a secret from before there were such lists, which may go anywhere.", typed("[String!]"), eg(`["erp.example.com"]`))),
		field.Int("version").Default(1).Annotations(shown("Counts the values that it has had.", eg("1"))),
		field.Bytes("sealed").Sensitive(),
		field.Bytes("previous").Sensitive().Optional().Comment("the sealed values before, which are masked still, as JSON"),
		field.String("created_by").MaxLen(40).Immutable().Annotations(shown("The user or service account that created it.", typed("ID!"), of("usr"))),
		field.Time("last_used_at").Optional().Nillable().Annotations(shown("When a workflow last used it.", eg("2026-03-02T09:30:00.000Z"))),
	}
}

// Indexes beyond those of the mixins.
func (Secret) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("company_id", "name").Unique(),
		index.Fields("company_id", "updated_at", "id"),
	}
}
