package schema

import (
	"encoding/json"

	"entgo.io/ent"
	"entgo.io/ent/schema/field"
)

// Calendar holds working hours and holidays, by which service levels and timers count.
type Calendar struct{ ent.Schema }

// Mixin adds the id, the times and the guard.
func (Calendar) Mixin() []ent.Mixin {
	return []ent.Mixin{base{prefix: "cal", doc: "Working hours and holidays, by which timers and service levels count.", noun: "calendar", ruled: true}, tenant{}}
}

// Fields of the entity.
func (Calendar) Fields() []ent.Field {
	return []ent.Field{
		field.String("name").MaxRuneLen(200).Annotations(shown("What people call it.")),
		field.String("time_zone").MaxLen(64).Default("UTC").Annotations(shown("A name of the IANA time zone database.")),
		raw(field.JSON("working_hours", json.RawMessage{}).Optional().Annotations(shown("When work is done; all hours of all days when null.", typed("WorkingHours")))),
		field.JSON("holidays", []string{}).Optional().Annotations(shown("Days without working hours, as YYYY-MM-DD.")),
		raw(field.JSON("exceptions", json.RawMessage{}).Optional().Comment("days with hours of their own").Annotations(shown("Days with hours of their own. They count before holidays.", typed("[CalendarException!]!")))),
	}
}
