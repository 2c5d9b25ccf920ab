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
func (Service) Mixin() []ent.Mixin { return []ent.Mixin{base{prefix: "svc", ruled: true}, tenant{}} }

// Fields of the entity.
func (Service) Fields() []ent.Field {
	return []ent.Field{
		field.String("name").MaxRuneLen(200),
		field.String("slug").MaxLen(63),
		field.String("description").Default(""),
		field.Enum("status").Values("draft", "active", "archived").Default("active"),
		field.String("owner_team_id").MaxLen(40).Optional().Nillable(),
		field.String("organization_id").MaxLen(40).Optional().Nillable(),
		field.JSON("tags", map[string]string{}).Optional(),
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
