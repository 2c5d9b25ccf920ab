package apitest

import (
	"bytes"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"atrium/internal/platform/strictjson"
)

// documentURL is the URL of the document while its schemas are compiled.
const documentURL = "https://atrium.invalid/openapi.json"

// ResponseValidator checks responses against an OpenAPI document. Safe for concurrent use.
type ResponseValidator struct {
	operations []operation
	failure    *jsonschema.Schema // the schema Error
}

// operation holds the possible responses of one method of a path.
type operation struct {
	method   string
	segments []string // of the path; "{id}" stands for anything
	answers  map[int]answer
}

// answer holds the schemas of a status by media type; nil for no body.
type answer struct{ content map[string]*jsonschema.Schema }

// closeObjects makes the schemas of a document refuse fields that they do not name. Clients must accept new fields; a test must
// find fields that are not described.
func closeObjects(doc any) {
	switch doc := doc.(type) {
	case map[string]any:
		if _, said := doc["additionalProperties"]; !said && doc["type"] == "object" && doc["properties"] != nil {
			doc["additionalProperties"] = false
		}
		for _, v := range doc {
			closeObjects(v)
		}
	case []any:
		for _, v := range doc {
			closeObjects(v)
		}
	}
}

// NewResponseValidator reads an OpenAPI 3.1 document (JSON) and compiles the schemas of its responses as JSON Schema 2020-12,
// including formats. Returns an error when a schema does not compile or a reference cannot be resolved.
func NewResponseValidator(document []byte) (*ResponseValidator, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(document))
	if err != nil {
		return nil, fmt.Errorf("read the document: %w", err)
	}
	closeObjects(doc)
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	if err := c.AddResource(documentURL, doc); err != nil {
		return nil, fmt.Errorf("read the document: %w", err)
	}
	v := &ResponseValidator{}
	if v.failure, err = compile(c, "#/components/schemas/Error"); err != nil {
		return nil, err
	}
	for path, item := range members(member(doc, "paths")) {
		for method, described := range members(item) {
			o := operation{method: strings.ToUpper(method), segments: strings.Split(path, "/"), answers: map[int]answer{}}
			for status := range members(member(described, "responses")) {
				code, err := strconv.Atoi(status)
				if err != nil {
					return nil, fmt.Errorf("%s %s: status %q is no number", method, path, status)
				}
				at := "#/paths/" + escape(path) + "/" + method + "/responses/" + status
				if o.answers[code], err = newAnswer(c, doc, at); err != nil {
					return nil, fmt.Errorf("%s %s: %w", method, path, err)
				}
			}
			v.operations = append(v.operations, o)
		}
	}
	return v, nil
}

// newAnswer compiles the schemas of the response at a JSON pointer, which may be a reference.
func newAnswer(c *jsonschema.Compiler, doc any, at string) (answer, error) {
	response := resolve(doc, at)
	if ref, ok := member(response, "$ref").(string); ok {
		at = ref
		response = resolve(doc, at)
	}
	if response == nil {
		return answer{}, fmt.Errorf("nothing is at %s", at)
	}
	a := answer{}
	for media := range members(member(response, "content")) {
		s, err := compile(c, at+"/content/"+escape(media)+"/schema")
		if err != nil {
			return a, err
		}
		if a.content == nil {
			a.content = map[string]*jsonschema.Schema{}
		}
		a.content[media] = s
	}
	return a, nil
}

func compile(c *jsonschema.Compiler, at string) (*jsonschema.Schema, error) {
	s, err := c.Compile(documentURL + at)
	if err != nil {
		return nil, fmt.Errorf("compile %s: %w", at, err)
	}
	return s, nil
}

// Check reports what is wrong with the response to method at path (as it was called, with its ids, with or without query). A
// status that the document does not name for the operation is wrong. For a path or method that the document does not name, a
// response under /v1 must be an error that fits the schema Error; other responses are checked only when they are errors.
func (v *ResponseValidator) Check(method, path string, status int, contentType string, body []byte) error {
	head := method == http.MethodHead
	if head {
		method = http.MethodGet
	}
	o := v.find(method, path)
	if o == nil {
		if status < http.StatusBadRequest {
			if strings.HasPrefix(path, "/v1/") && path != "/v1/openapi.json" {
				return fmt.Errorf("%s %s: the document does not know what answered %d", method, path, status)
			}
			return nil
		}
		return v.hold(answer{map[string]*jsonschema.Schema{"application/json": v.failure}}, head, method, path, status, contentType, body)
	}
	a, ok := o.answers[status]
	if !ok {
		return fmt.Errorf("%s %s: the document does not know status %d: %s", method, path, status, clip(body))
	}
	return v.hold(a, head, method, path, status, contentType, body)
}

// hold checks a body against the response that is declared.
func (v *ResponseValidator) hold(a answer, head bool, method, path string, status int, contentType string, body []byte) error {
	fault := func(format string, args ...any) error {
		return fmt.Errorf("%s %s: %d: %w: %s", method, path, status, fmt.Errorf(format, args...), clip(body))
	}
	if head || a.content == nil {
		if len(body) > 0 {
			return fault("there must be no body")
		}
		if !head && contentType != "" {
			return fault("there must be no content type where there is no body")
		}
		return nil
	}
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		return fault("content type %q: %w", contentType, err)
	}
	s := a.content[media]
	if s == nil {
		return fault("content type %q is not the document's", contentType)
	}
	if _, err := strictjson.Decode(body); err != nil {
		return fault("not the JSON that is asked of callers: %w", err)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return fault("not JSON: %w", err)
	}
	if err := s.Validate(value); err != nil {
		if invalid, ok := errors.AsType[*jsonschema.ValidationError](err); ok {
			return fault("%s", invalid.Error())
		}
		return fault("validate: %w", err)
	}
	return nil
}

// find returns the operation of a concrete path, preferring the one with the fewest variables; nil if there is none.
func (v *ResponseValidator) find(method, path string) *operation {
	path, _, _ = strings.Cut(path, "?")
	if u, err := url.Parse(path); err == nil && u.Path != "" {
		path = u.EscapedPath()
	}
	segments := strings.Split(path, "/")
	var best *operation
	least := 0
	for i := range v.operations {
		o := &v.operations[i]
		if o.method != method {
			continue
		}
		if n, ok := o.matches(segments); ok && (best == nil || n < least) {
			best, least = o, n
		}
	}
	return best
}

// matches reports whether a path is the operation's, and how many of its segments are variables.
func (o *operation) matches(segments []string) (variables int, ok bool) {
	if len(segments) != len(o.segments) {
		return 0, false
	}
	for i, want := range o.segments {
		switch {
		case strings.HasPrefix(want, "{") && segments[i] != "":
			variables++
		case want != segments[i]:
			return 0, false
		}
	}
	return variables, true
}

// member returns a member of a JSON object; nil if there is none.
func member(v any, key string) any { return members(v)[key] }

func members(v any) map[string]any {
	m, _ := v.(map[string]any)
	return m
}

// resolve follows a JSON pointer ("#/components/…") in the document.
func resolve(doc any, pointer string) any {
	for part := range strings.SplitSeq(strings.TrimPrefix(pointer, "#/"), "/") {
		if u, err := url.PathUnescape(part); err == nil {
			part = u
		}
		doc = member(doc, strings.NewReplacer("~1", "/", "~0", "~").Replace(part))
	}
	return doc
}

// escape encodes a key as part of a JSON pointer in a URL's fragment.
func escape(key string) string {
	return url.PathEscape(strings.NewReplacer("~", "~0", "/", "~1").Replace(key))
}

// clip shortens a body for a message.
func clip(body []byte) string {
	const most = 600
	if len(body) <= most {
		return string(body)
	}
	return string(body[:most]) + "…"
}
