package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// RowCount is a counter of rows, sharded so that one company's inserts do not queue behind one row; triggers keep it.
type RowCount struct{ ent.Schema }

// Mixin adds the id, the times and the guard.
func (RowCount) Mixin() []ent.Mixin { return []ent.Mixin{tenant{unlisted: true}} }

// Fields of the entity.
func (RowCount) Fields() []ent.Field {
	return []ent.Field{
		field.String("kind").MaxLen(20),
		field.String("facet").MaxLen(64),
		field.Int("shard"),
		field.Int64("n"),
	}
}

// Indexes beyond those of the mixins.
func (RowCount) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("company_id", "kind", "facet", "shard").Unique(),
	}
}
