package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// ReportSubscription is a report that a person gets by mail each week.
type ReportSubscription struct{ ent.Schema }

// Mixin adds the id, the times and the guard.
func (ReportSubscription) Mixin() []ent.Mixin {
	return []ent.Mixin{base{prefix: "rsb", doc: "A report that a person gets by mail each week.", noun: "report subscription"}, tenant{}}
}

// Fields of the entity.
func (ReportSubscription) Fields() []ent.Field {
	return []ent.Field{
		field.String("name").MaxRuneLen(200).Annotations(shown("What its mails are called.", eg("Service desk"))),
		field.String("query").MaxLen(4096).Default("").Annotations(shown("The filters and groups of the report, as GET /v1/reports/requests takes them, such as teamId=tea_…&by=priority; the time is always the week before.", eg("priority=URGENT,HIGH&by=team"))),
		field.String("user_id").MaxLen(40).Immutable().Annotations(shown("Whoever gets it.", of("usr"))),
		field.Time("next_at").Annotations(shown("When it is mailed next: a Monday at 07:00 in the person's time zone.")),
	}
}

// Edges of the entity; in the database each is a composite key (company_id, id).
func (ReportSubscription) Edges() []ent.Edge {
	return []ent.Edge{edge.To("user", User.Type).Field("user_id").Unique().Required().Immutable()}
}

// Indexes beyond those of the mixins: for one person's.
func (ReportSubscription) Indexes() []ent.Index {
	return []ent.Index{index.Fields("company_id", "user_id")}
}
