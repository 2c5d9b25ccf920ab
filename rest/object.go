package rest

import (
	"bytes"
	"encoding/json"

	"github.com/danielgtaylor/huma/v2"
)

// Object is a JSON object that is answered as it is kept.
type Object json.RawMessage

// objectOut shows nothing, and null, as {}.
func objectOut(raw json.RawMessage) Object {
	if len(raw) == 0 || bytes.Equal(raw, []byte("null")) {
		return Object("{}")
	}
	return Object(raw)
}

// MarshalJSON writes the object.
func (o Object) MarshalJSON() ([]byte, error) { return o, nil }

// Schema tells the OpenAPI document that anything may stand in it.
func (Object) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}
}

// AnyValue is a JSON value that is answered as it is kept.
type AnyValue json.RawMessage

// MarshalJSON writes the value.
func (v AnyValue) MarshalJSON() ([]byte, error) { return v, nil }

// Schema tells the OpenAPI document that it may be anything.
func (AnyValue) Schema(huma.Registry) *huma.Schema { return &huma.Schema{} }
