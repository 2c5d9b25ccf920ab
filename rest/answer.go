package rest

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strings"

	"atrium/internal/gate"
	"atrium/internal/op"
)

// answer encodes a body and sets the headers ETag and Location.
func (rt *route) answer(body any) (op.Answer, error) {
	a := op.Answer{Status: rt.status, Header: map[string]string{}, Body: []byte{}} // not nil, because the column of stored answers is required
	if body == nil {
		return a, nil
	}
	var err error
	if a.Body, err = encode(body); err != nil {
		return a, err
	}
	if rt.tagged {
		if a.Header["ETag"], err = etagOf(body, a.Body); err != nil {
			return a, err
		}
	}
	if id := idIn(body); id != "" && rt.status == http.StatusCreated {
		a.Header["Location"] = "/v1/" + collection(rt.path) + "/" + id
	}
	return a, nil
}

// collection returns the last segment of a path that resources are posted to: "offerings" of "/services/{id}/offerings".
func collection(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// idIn returns the id of an enveloped resource; "" if there is none.
func idIn(body any) string {
	data := reflect.ValueOf(body).FieldByName("Data")
	if !data.IsValid() || data.Kind() != reflect.Struct {
		return ""
	}
	if f := data.FieldByName("ID"); f.IsValid() && f.Kind() == reflect.String {
		return f.String()
	}
	return ""
}

// encode writes JSON without HTML escapes and without a trailing newline.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("encode the answer: %w", err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// unseen is implemented by resources that note when they were last used. It returns the resource without that time.
type unseen interface{ unseen() any }

// etagOf returns the entity tag of a body: of its bytes, but for the time of the last use, which is no change. Somebody who signs in
// must not keep an admin from saving what the admin has read.
func etagOf(body any, encoded []byte) (string, error) {
	if data := reflect.ValueOf(body).FieldByName("Data"); data.IsValid() {
		if resource, ok := data.Interface().(unseen); ok {
			var err error
			if encoded, err = encode(resource.unseen()); err != nil {
				return "", err
			}
		}
	}
	sum := sha256.Sum256(encoded)
	return `"` + base64.RawURLEncoding.EncodeToString(sum[:15]) + `"`, nil
}

// ifMatch returns the check of a PATCH's or DELETE's If-Match header; nil when there is none. tag renders a loaded row as the
// body that its ETag is computed from. Weak tags never match.
func ifMatch(r *http.Request, tag func(any) any) func(any) bool {
	header := strings.Join(r.Header.Values("If-Match"), ",")
	if len(r.Header.Values("If-Match")) == 0 || r.Method != http.MethodPatch && r.Method != http.MethodDelete {
		return nil
	}
	return func(row any) bool { return strings.TrimSpace(header) == "*" || tagIn(header, tag(row)) }
}

// tagIn reports whether a list of entity tags contains that of a body; false for no body.
func tagIn(list string, body any) bool {
	if body == nil {
		return false
	}
	b, err := encode(body)
	if err != nil {
		return false
	}
	tag, err := etagOf(body, b)
	return err == nil && anyTag(list, tag)
}

// anyTag reports whether a header's list of entity tags contains tag.
func anyTag(header, tag string) bool {
	for part := range strings.SplitSeq(header, ",") {
		if strings.TrimSpace(part) == tag {
			return true
		}
	}
	return false
}

// reply sends an answer, or 304 when If-None-Match names its ETag.
func reply(w http.ResponseWriter, r *http.Request, a *op.Answer) {
	h := w.Header()
	for k, v := range a.Header {
		h[k] = []string{v}
	}
	if a.Repeated {
		h.Set("Idempotency-Replayed", "true")
	}
	if tag := a.Header["ETag"]; tag != "" && (r.Method == http.MethodGet || r.Method == http.MethodHead) {
		if none := r.Header.Get("If-None-Match"); none != "" && (none == "*" || anyTag(strings.ReplaceAll(none, "W/", ""), tag)) {
			w.WriteHeader(http.StatusNotModified)
			return
		}
	}
	if a.Status == http.StatusNoContent {
		w.WriteHeader(a.Status)
		return
	}
	gate.Send(w, a.Status, a.Body)
}
