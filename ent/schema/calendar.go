package schema

import (
	"encoding/json"

	"entgo.io/ent"
	"entgo.io/ent/schema/field"
)

// Calendar holds working hours and holidays, by which service levels and timers count.
type Calendar struct{ ent.Schema }

// Mixin adds the id, the times and the guard.
func (Calendar) Mixin() []ent.Mixin { return []ent.Mixin{base{prefix: "cal", ruled: true}, tenant{}} }

// Fields of the entity.
func (Calendar) Fields() []ent.Field {
	return []ent.Field{
		field.String("name").MaxRuneLen(200),
		field.String("time_zone").MaxLen(64).Default("UTC"),
		field.JSON("working_hours", json.RawMessage{}).Optional(),
		field.JSON("holidays", []string{}).Optional(),
		field.JSON("exceptions", json.RawMessage{}).Optional().Comment("days with hours of their own"),
	}
}
