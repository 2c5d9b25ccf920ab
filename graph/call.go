package graph

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"

	"atrium/internal/apperr"
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
}

// readCall reads the body. Returns unsupported_media_type, payload_too_large, or validation_error for what is no object
// of GraphQL over HTTP; several operations in one list are refused, too.
func readCall(w http.ResponseWriter, r *http.Request) (*call, error) {
	media, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if charset := params["charset"]; err != nil || media != "application/json" || charset != "" && !strings.EqualFold(charset, "utf-8") {
		return nil, apperr.New(apperr.UnsupportedMediaType, "Send Content-Type: application/json.")
	}
	if enc := r.Header.Get("Content-Encoding"); enc != "" && !strings.EqualFold(enc, "identity") {
		return nil, apperr.New(apperr.UnsupportedMediaType, "Send the body without a content encoding.")
	}
	if r.ContentLength > maxBody {
		return nil, errTooLarge
	}
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		return nil, errTooLarge
	}
	if err != nil {
		return nil, apperr.Wrap(err, apperr.Validation, "The body could not be read.")
	}
	if err := strictjson.Check(raw); err != nil {
		return nil, apperr.InvalidField("body", "is not valid JSON: %v", err)
	}
	c := &call{}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if err := dec.Decode(c); err != nil {
		return nil, malformed(err)
	}
	return c, nil
}

var errTooLarge = apperr.New(apperr.PayloadTooLarge, "The body may have 1 MiB.")

// malformed names the part of the body that has another type than it should.
func malformed(err error) error {
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && e.Field != "" {
		return apperr.InvalidField(e.Field, "has another type in GraphQL over HTTP")
	}
	return apperr.InvalidField("body", "must be one JSON object with query, operationName and variables")
}
