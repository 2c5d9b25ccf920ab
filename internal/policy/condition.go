package policy

import (
	"bytes"
	"encoding/json"

	"github.com/danielgtaylor/huma/v2"

	"atrium/internal/platform/apperr"
	"atrium/internal/platform/strictjson"
)

// Condition is a policy's condition as it was sent: an object that maps paths to comparisons.
type Condition struct{ text json.RawMessage }

// NewCondition returns an unread condition with that JSON text; operations report its faults.
func NewCondition(text []byte) Condition { return Condition{text: bytes.Clone(text)} }

// Schema describes the condition as an object; package authz describes and checks its content.
func (Condition) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}
}

// MarshalJSON returns the text; {} for none.
func (c Condition) MarshalJSON() ([]byte, error) { return c.orEmpty(), nil }

// UnmarshalJSON stores the text.
func (c *Condition) UnmarshalJSON(text []byte) error {
	c.text = bytes.Clone(text)
	return nil
}

func (c Condition) orEmpty() json.RawMessage {
	if len(c.text) == 0 || string(c.text) == "null" {
		return json.RawMessage("{}")
	}
	return c.text
}

// read returns the text to store. Returns validation_error for JSON that parsers may read differently.
func (c Condition) read() (json.RawMessage, error) {
	text := c.orEmpty()
	if err := strictjson.Check(text); err != nil {
		return nil, apperr.InvalidField("condition", "is not valid JSON")
	}
	return text, nil
}
