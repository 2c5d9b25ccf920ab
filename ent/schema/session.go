package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Session is a browser that is signed in to the web application as one user of one company. Only the SHA-256 of its cookie is kept.
type Session struct{ ent.Schema }

// Mixin adds the id, the times and the guard.
func (Session) Mixin() []ent.Mixin {
	return []ent.Mixin{base{prefix: "ses", doc: "A browser in which somebody is signed in to the web application.", noun: "session", final: true}, tenant{}}
}

// Fields of the entity.
func (Session) Fields() []ent.Field {
	return []ent.Field{
		field.String("user_id").MaxLen(40).Immutable().Annotations(shown("Who is signed in.", also("current", "Boolean!", "It is the one that this call was made in."))),
		field.String("sign_in_id").MaxLen(40).Immutable().Default("").Comment("the provider's; empty when another issuer signed the person in"),
		field.String("grant_id").MaxLen(40).Immutable().Default(""),
		field.Bytes("token_hash").MaxLen(32).Sensitive().Unique(),
		field.Bool("sandbox").Default(false).Comment("the person works in the company's sandbox at the moment").Annotations(shown("It works in the company's sandbox at the moment.")),
		field.JSON("methods", []string{}).Comment("amr").Annotations(shown("How the person proved who it is, as in the amr of tokens.")),
		field.Time("authenticated_at").Comment("of the last full proof; dangerous operations ask for a recent one").Annotations(shown("When the person last proved in full who it is.")),
		field.Time("last_seen_at").Annotations(shown("When it was last used.")),
		field.Time("expires_at").Comment("moves on while the session is used").Annotations(shown("When it ends, unless it is used meanwhile.")),
		field.Time("ended_at").Optional().Nillable().Annotations(shown("When it was ended.")),
		field.String("ip").MaxLen(64).Default("").Annotations(shown("The address that it was last used from.", typed("String"))),
		field.String("user_agent").MaxLen(300).Default("").Annotations(shown("The browser.", typed("String"))),
	}
}

// Edges of the entity; in the database each is a composite key (company_id, id).
func (Session) Edges() []ent.Edge {
	return []ent.Edge{
		edge.To("user", User.Type).Field("user_id").Unique().Required().Immutable().Annotations(entsql.OnDelete(entsql.Cascade)),
	}
}

// Indexes beyond those of the mixins.
func (Session) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("company_id", "user_id"),
		index.Fields("sign_in_id"),
		index.Fields("grant_id"),
		index.Fields("expires_at"),
	}
}
