package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// ModelConnection is where a company's language models are asked: an address that speaks OpenAI's chat completions, and the secret
// that opens it.
type ModelConnection struct{ ent.Schema }

// Mixin adds the id, the times and the guard.
func (ModelConnection) Mixin() []ent.Mixin {
	return []ent.Mixin{base{prefix: "mdl", doc: "Where a company's language models are asked.", noun: "connection", ruled: true}, tenant{}}
}

// Fields of the entity.
func (ModelConnection) Fields() []ent.Field {
	return []ent.Field{
		field.String("name").MaxRuneLen(200).Annotations(shown("What people call it.")),
		field.Enum("kind").Values("openai").Default("openai").Annotations(shown("What it speaks.")),
		field.String("base_url").MaxLen(2000).Comment("chat/completions is below it").Annotations(shown("Its address; chat/completions is below it.")),
		field.String("secret_name").MaxLen(64).Default("").Comment("of the secret whose value is the key; empty for none").Annotations(shown("The secret whose value is its key; empty for none.")),
		field.JSON("models", []string{}).Comment("what agents may ask for; the first is what they get").Annotations(shown("What agents may ask for there; the first is what they get.")),
	}
}

// Indexes beyond those of the mixins.
func (ModelConnection) Indexes() []ent.Index {
	return []ent.Index{index.Fields("company_id", "name").Unique(), index.Fields("company_id", "secret_name")}
}
