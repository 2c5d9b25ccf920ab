package graph

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"

	"atrium/internal/apperr"
	"atrium/internal/gate"
	"atrium/internal/strictjson"
)

// call is what a caller sent.
type call struct {
	Query         string         `json:"query"`
	OperationName string         `json:"operationName"`
	Variables     map[string]any `json:"variables"`
	DocumentID    string         `json:"documentId"` // of a trusted document, in place of query
	Extensions    struct {
		PersistedQuery struct {
			Hash string `json:"sha256Hash"`
		} `json:"persistedQuery"`
	} `json:"extensions"`

	raw      []byte // the body itself
	fromPage bool   // a script of a page of this origin has sent it
}

// readCall reads the body. Returns unsupported_media_type, payload_too_large, or validation_error for what is no object
// of GraphQL over HTTP; several operations in one list are refused, too.
func readCall(w http.ResponseWriter, r *http.Request) (*call, error) {
	raw, err := gate.ReadBody(w, r)
	if err != nil {
		return nil, err // what the caller is told
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

// malformed names the part of the body that has another type than it should.
func malformed(err error) error {
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && e.Field != "" {
		return apperr.InvalidField(e.Field, "has another type in GraphQL over HTTP")
	}
	return apperr.InvalidField("body", "must be one JSON object with query, operationName and variables")
}
