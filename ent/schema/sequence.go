package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Sequence numbers a company's rows of one kind, such as its requests, or what happened to one resource: its events.
type Sequence struct{ ent.Schema }

// Mixin adds the guard.
func (Sequence) Mixin() []ent.Mixin { return []ent.Mixin{tenant{unlisted: true}} }

// Fields of the entity.
func (Sequence) Fields() []ent.Field {
	return []ent.Field{
		field.String("kind").MaxLen(40).Comment("such as request, or the id of the resource whose events are numbered"),
		field.Int64("last").Comment("the highest number that was given away, or lies in a block of a node"),
	}
}

// Indexes beyond those of the mixins.
func (Sequence) Indexes() []ent.Index {
	return []ent.Index{index.Fields("company_id", "kind").Unique()}
}
