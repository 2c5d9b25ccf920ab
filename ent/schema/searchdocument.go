package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// SearchDocument is what a row can be found by. Triggers make it with its row, empty it when the row's text changes and delete it with the
// row; package search writes its tokens. Triggers keep the index of the tokens too, which Ent does not know: search_words on SQLite,
// search_vectors on PostgreSQL.
type SearchDocument struct{ ent.Schema }

// Mixin adds the guard.
func (SearchDocument) Mixin() []ent.Mixin { return []ent.Mixin{tenant{unlisted: true}} }

// Fields of the entity.
func (SearchDocument) Fields() []ent.Field {
	return []ent.Field{
		field.Enum("kind").Values("request", "comment", "service", "offering", "user").Immutable(),
		field.String("row_id").MaxLen(40).Immutable(),
		field.String("request_id").MaxLen(40).Optional().Immutable().Comment("of a request and of a comment on it"),
		field.String("tokens").Default("").Comment("of package words, with spaces between them; empty while the row's text is not in the index"),
		field.Int("version").Default(0).Comment("words.Version of the tokens"),
		field.Int("pending").Default(1).Comment("above 0 while the tokens are to be written: it counts changes of the row, from the number of whoever writes them"),
	}
}

// Indexes beyond those of the mixins.
func (SearchDocument) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("company_id", "row_id").Unique(),
		index.Fields("company_id", "request_id"),
		index.Fields("company_id", "id").StorageKey("searchdocument_pending").Annotations(entsql.IndexWhere("pending > 0")),
	}
}
