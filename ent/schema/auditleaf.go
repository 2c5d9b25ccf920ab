package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// AuditLeaf is a leaf of a company's Merkle log: the place of an audit entry, and the hashes that the log stores for it. Its id
// is the entry's. The database refuses to change or delete one.
type AuditLeaf struct{ ent.Schema }

// Mixin adds the guard.
func (AuditLeaf) Mixin() []ent.Mixin { return []ent.Mixin{tenant{unlisted: true}} }

// Annotations name the table in the right plural.
func (AuditLeaf) Annotations() []schema.Annotation {
	return []schema.Annotation{entsql.Annotation{Table: "audit_leaves"}}
}

// Fields of the entity. No foreign key leads to the entry: it would need one more index on the table that every write adds to.
func (AuditLeaf) Fields() []ent.Field {
	return []ent.Field{
		field.String("id").MaxLen(40).Immutable().Comment("of the entry"),
		field.Int64("index").Immutable().Comment("from 0, without gaps, in each company"),
		field.Bytes("hashes").Comment("the leaf's own hash, then those of the subtrees that it completes, then a mark that binds it to its index"),
	}
}

// Indexes beyond those of the mixins.
func (AuditLeaf) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("company_id", "index").Unique(),
	}
}
