package rest

import (
	"bytes"
	"encoding/json"

	"github.com/danielgtaylor/huma/v2"
)

// Object is a JSON object that answers contain exactly as it is stored.
type Object json.RawMessage

// objectOut returns {} for null and for no value.
func objectOut(raw json.RawMessage) Object {
	if len(raw) == 0 || bytes.Equal(raw, []byte("null")) {
		return Object("{}")
	}
	return Object(raw)
}

// MarshalJSON writes the object.
func (o Object) MarshalJSON() ([]byte, error) { return o, nil }

// Schema describes it in the OpenAPI document as an object with any fields.
func (Object) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}
}

// AnyValue is a JSON value that answers contain exactly as it is stored.
type AnyValue json.RawMessage

// MarshalJSON writes the value.
func (v AnyValue) MarshalJSON() ([]byte, error) { return v, nil }

// Schema describes it in the OpenAPI document as any value.
func (AnyValue) Schema(huma.Registry) *huma.Schema { return &huma.Schema{} }

// UnmarshalJSON keeps a copy of the value as it stands.
func (v *AnyValue) UnmarshalJSON(raw []byte) error {
	*v = append((*v)[:0], raw...)
	return nil
}
