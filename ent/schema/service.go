package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Service is something a company offers; people file requests against its offerings.
type Service struct{ ent.Schema }

// Mixin adds the id, the times and the guard.
func (Service) Mixin() []ent.Mixin {
	return []ent.Mixin{base{prefix: "svc", doc: "What a company offers.", noun: "service", ruled: true}, tenant{}}
}

// Fields of the entity.
func (Service) Fields() []ent.Field {
	return []ent.Field{
		field.String("name").MaxRuneLen(200).Annotations(shown("What people call it.", eg("Workplace IT"))),
		field.String("slug").MaxLen(63).Annotations(shown("Its name in addresses; unique in the company.", eg("workplace-it"))),
		field.String("description").Default("").Annotations(shown("What it is about.", typed("String"), eg("Devices, accounts and access"))),
		field.Enum("status").Values("draft", "active", "archived").Default("active").Annotations(shown("Whether it takes requests.", eg("active"))),
		field.String("owner_team_id").MaxLen(40).Optional().Nillable().Annotations(shown("The team that answers for it.", of("team"))),
		field.String("organization_id").MaxLen(40).Optional().Nillable().Annotations(shown("The organization that it belongs to.", of("org"))),
		field.JSON("tags", map[string]string{}).Optional().Annotations(shown("Texts by key, for filters and access policies.", eg(`{"site": "berlin"}`))),
	}
}

// Edges of the entity; in the database each is a composite key (company_id, id).
func (Service) Edges() []ent.Edge {
	return []ent.Edge{
		edge.To("owner_team", Team.Type).Field("owner_team_id").Unique(),
		edge.To("organization", Organization.Type).Field("organization_id").Unique(),
		edge.From("offerings", Offering.Type).Ref("service"),
	}
}

// Indexes beyond those of the mixins.
func (Service) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("company_id", "slug").Unique(),
		index.Fields("company_id", "status", "created_at", "id"),
		index.Fields("company_id", "name", "id"),
		index.Fields("company_id", "updated_at", "id"),
		index.Fields("company_id", "owner_team_id"),
		index.Fields("company_id", "organization_id"),
	}
}
