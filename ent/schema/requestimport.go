package schema

import (
	"encoding/json"

	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// RequestImport is a table of another system's requests that somebody brings in.
type RequestImport struct{ ent.Schema }

// Mixin adds the id, the times and the guard.
func (RequestImport) Mixin() []ent.Mixin {
	return []ent.Mixin{base{prefix: "imp", doc: "A table of another system's requests that somebody brings in.", noun: "import", final: true}, tenant{}}
}

// Fields of the entity.
func (RequestImport) Fields() []ent.Field {
	return []ent.Field{
		field.Enum("status").Values("CHECKED", "RUNNING", "COMPLETED", "STOPPED").Default("CHECKED").Annotations(shown("CHECKED waits to be started; COMPLETED and STOPPED have ended.", typed("RequestImportStatus!"))),
		field.String("source").MaxLen(40).Immutable().Annotations(shown("What the other system is called: the same key of the same source is brought in once.", eg("jira"))),
		field.String("created_by").MaxLen(40).Immutable().Annotations(shown("Whoever brings it in, and as whom its requests are filed.", of("usr"))),
		field.Int("rows").Immutable().Annotations(shown("How many rows the table has, without its headings.", eg("1000"))),
		field.Int("done").Default(0).Annotations(shown("How many of them have been worked.", eg("400"))),
		field.Int("imported").Default(0).Annotations(shown("How many requests they have become.", eg("390"))),
		field.Int("known").Default(0).Annotations(shown("How many were there already, from an import before.", eg("7"))),
		field.Int("faulty").Default(0).Annotations(shown("How many cannot become requests.", eg("3"))),
		raw(field.JSON("faults", json.RawMessage{}).Optional().Comment("[{row, column, message}], the first 200").Annotations(shown("What is wrong in which row, the first 200.", typed("[ImportFault!]!"), filled("[]ImportFault")))),
		field.JSON("columns", map[string]string{}).Immutable().Annotations(shown("What each heading was taken for; empty for a column that is left out.", eg(`{"Summary": "title", "State": "status"}`))),
		field.Time("finished_at").Optional().Nillable().Annotations(shown("When it ended.")),
		raw(field.JSON("settings", json.RawMessage{}).Immutable().Comment("requestimport.Settings: how the rows are read")),
		field.Text("csv").Optional().Comment("the table; empty once it has ended"),
	}
}

// Indexes beyond those of the mixins.
func (RequestImport) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("company_id", "status"),
		index.Fields("updated_at"), // what the sweep removes
	}
}
