package graph

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"

	"atrium/internal/gate"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/strictjson"
)

// call is the body of a request.
type call struct {
	Query         string         `json:"query"`
	OperationName string         `json:"operationName"`
	Variables     map[string]any `json:"variables"`
	DocumentID    string         `json:"documentId"` // the id of a trusted document, instead of query
	Extensions    struct {
		PersistedQuery struct {
			Hash string `json:"sha256Hash"`
		} `json:"persistedQuery"`
	} `json:"extensions"`

	raw      []byte // the body itself
	fromPage bool   // the script of a page sent it: it has the header Sec-Fetch-Site
}

// readCall reads the body. Returns unsupported_media_type, payload_too_large, or validation_error for a body that is not an
// object of GraphQL over HTTP. A list of operations is refused.
func readCall(w http.ResponseWriter, r *http.Request) (*call, error) {
	raw, err := gate.ReadBody(w, r)
	if err != nil {
		return nil, err
	}
	if err := strictjson.Check(raw); err != nil {
		return nil, apperr.InvalidField("body", "is not valid JSON: %v", err)
	}
	c := &call{raw: raw, fromPage: r.Header.Get("Sec-Fetch-Site") != ""}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if err := dec.Decode(c); err != nil {
		return nil, malformed(err)
	}
	return c, nil
}

// malformed names the part of the body that has the wrong type.
func malformed(err error) error {
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && e.Field != "" {
		return apperr.InvalidField(e.Field, "has another type in GraphQL over HTTP")
	}
	return apperr.InvalidField("body", "must be one JSON object with query, operationName and variables")
}
