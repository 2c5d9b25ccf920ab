package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
)

// Company is a tenant. A sandbox is a company whose sandbox_of names its live company.
type Company struct{ ent.Schema }

// Mixin adds the id, the times and the guard.
func (Company) Mixin() []ent.Mixin {
	return []ent.Mixin{base{prefix: "co", doc: "A tenant of the platform.", noun: "company"}, self{}}
}

// Fields of the entity.
func (Company) Fields() []ent.Field {
	return []ent.Field{
		field.String("name").MaxRuneLen(200).Annotations(shown("What people call it.")),
		field.String("slug").MaxLen(63).Unique().Annotations(shown("Its name in addresses; unique.")),
		field.Enum("plan").Values("free", "pro", "starter", "growth", "business", "enterprise").Default("free").Annotations(shown("What it has subscribed to.", typed("Plan!"))),
		field.String("sandbox_of").MaxLen(40).Optional().Nillable().Immutable().Unique(),
		field.Bool("mfa_required").Default(false).Annotations(shown("Members without a second factor enrol one at their next sign-in.")),
		field.Int("session_lifetime_minutes").Default(60).Annotations(shown("How long a web session lasts while it is not used.")),
		field.Bool("jit_users").Default(false).Comment("people whom the configured issuer vouches for become members when they first come").Annotations(shown("People whom the operator's other issuer vouches for become members when they first come.")),
		field.String("locale").MaxLen(35).Optional().Nillable().Annotations(shown("The language of its people who have chosen none; null for English in mails, and the browser's on pages.", eg("de"))),
		field.String("time_zone").MaxLen(64).Optional().Nillable().Annotations(shown("The zone of its people who have chosen none, by its IANA name; null for UTC.", eg("Europe/Berlin"))),
		field.Enum("receipts").Values("members", "everyone", "none").Default("members").Annotations(shown("Who is mailed that a request of theirs has arrived, of its people who have chosen nothing.", typed("Receipts!"))),
		field.Bytes("files_key_sealed").Sensitive().Optional().Comment("the key of its files, an age identity; made with the first one"),
		field.Int("rate_per_minute").Optional().Nillable().Comment("overrides the plan's number"),
		field.Int("rate_per_day").Optional().Nillable().Comment("overrides the plan's number"),
		field.Int("bytes_per_minute").Optional().Nillable().Comment("overrides the plan's number"),
		field.Int("bytes_per_day").Optional().Nillable().Comment("overrides the plan's number"),
		field.Int("invitations_per_day").Optional().Nillable().Comment("overrides the plan's number"),
		field.Int("audit_days").Optional().Nillable().Comment("after which audit entries lose their values and keep their leaves; null for never"),
		field.Int("query_cost").Optional().Nillable().Comment("overrides the plan's number"),
		field.Float("agent_agreement").Optional().Nillable().Comment("how often an AUTONOMOUS agent must decide as people did, 0 to 1; 0.9 when null").Annotations(shown("How often an agent must decide as people did before it may act alone; 0.9 when null.")),
		field.Int("agent_runs_per_day").Optional().Nillable().Comment("that its agents begin in any 24 hours, a sandbox's apart; 5000 when null").Annotations(shown("Runs that its agents begin in any 24 hours, those of its sandbox apart; runs beyond them are handed over to people. 5000 when null.", also("limits", "CompanyLimits!", "What its callers may do at most."), also("sandbox", "Sandbox", "The company's sandbox; null when it is one itself."))),
	}
}
