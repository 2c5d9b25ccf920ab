package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Attachment is a file at a request or at a comment.
type Attachment struct{ ent.Schema }

// Mixin adds the id, the times and the guard.
func (Attachment) Mixin() []ent.Mixin {
	return []ent.Mixin{base{prefix: "att", doc: "A file at a request or at a comment.", noun: "attachment", final: true, ruled: true, within: []string{"request_id"}}, tenant{unlisted: true}}
}

// Fields of the entity.
func (Attachment) Fields() []ent.Field {
	return []ent.Field{
		field.String("request_id").MaxLen(40).Optional().Nillable().Annotations(shown("The request that it belongs to; null for a draft.", of("req"))),
		field.String("comment_id").MaxLen(40).Optional().Nillable().Annotations(shown("The comment that it belongs to; null for a file of the request itself.", of("cmt"))),
		field.String("name").MaxRuneLen(255).Annotations(shown("Its name, as whoever added it gave it.", eg("invoice.pdf"))),
		field.Int64("size").Immutable().Annotations(shown("Its bytes.", eg("48213"))),
		field.String("media_type").MaxLen(100).Optional().Annotations(shown("What its bytes look like, whatever its name says; null until they have come.", typed("String"), eg("application/pdf"))),
		field.String("sha256").MaxLen(64).Optional().Annotations(shown("The SHA-256 of its bytes in hexadecimal; null until they have come.", typed("String"), eg("9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"))),
		field.Enum("status").Values("UPLOADING", "READY").Default("UPLOADING").Annotations(shown("Whether its bytes have come.", typed("AttachmentStatus!"))),
		field.Enum("scan").Values("PENDING", "CLEAN", "INFECTED", "SKIPPED").Default("PENDING").Annotations(shown("What the virus scanner says of it; SKIPPED on a server without one.", typed("AttachmentScan!"))),
		field.Int("width").Optional().Nillable().Annotations(shown("The pixels of an image from left to right.")),
		field.Int("height").Optional().Nillable().Annotations(shown("The pixels of an image from top to bottom.")),
		field.String("created_by").MaxLen(40).Immutable().Annotations(shown("The user or service account that added it.", typed("ID!"), of("usr"))),
		field.String("stored_as").MaxLen(120).Optional().StructTag(`audit:"-"`).Comment("the key of its bytes in the file store, which several rows of the company with the same bytes share"),
		field.Time("deleted_at").Optional().Nillable().StructTag(`audit:"-"`).Comment("the row stays for a day, so that a backup that is being made finds the bytes that its rows name"),
	}
}

// Edges of the entity; in the database each is a composite key (company_id, id).
func (Attachment) Edges() []ent.Edge {
	return []ent.Edge{
		edge.To("request", Request.Type).Field("request_id").Unique(),
		edge.To("comment", Comment.Type).Field("comment_id").Unique(),
	}
}

// Indexes beyond those of the mixins.
func (Attachment) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("company_id", "request_id", "created_at", "id"),
		index.Fields("company_id", "comment_id"),
		index.Fields("company_id", "sha256"),               // the same bytes
		index.Fields("company_id", "deleted_at", "size"),   // what a company uses
		index.Fields("company_id", "stored_as"),            // what the sweep looks up
		index.Fields("deleted_at", "id"),                   // what the sweep removes
		index.Fields("status", "scan", "created_at", "id"), // what was never sent, and what waits for the scanner
	}
}
