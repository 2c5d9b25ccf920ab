package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
)

// OAuthClient is an application that obtains tokens for people.
type OAuthClient struct{ ent.Schema }

// Mixin adds the id, the times and the guard.
func (OAuthClient) Mixin() []ent.Mixin {
	return []ent.Mixin{base{prefix: "cli", ruled: true}, tenant{}}
}

// Fields of the entity.
func (OAuthClient) Fields() []ent.Field {
	return []ent.Field{
		field.String("name").MaxRuneLen(200),
		field.JSON("redirect_uris", []string{}),
		field.JSON("scopes", []string{}),
		field.Bool("confidential").Default(false),
		field.JSON("post_logout_redirect_uris", []string{}).Optional(),
		field.String("backchannel_logout_uri").MaxLen(2000).Optional(),
		field.Bytes("secret_hash").MaxLen(32).Sensitive().Optional(),
		field.String("created_by").MaxLen(40).Immutable(),
	}
}

// Annotations name the table.
func (OAuthClient) Annotations() []schema.Annotation {
	return []schema.Annotation{entsql.Annotation{Table: "oauth_clients"}}
}
