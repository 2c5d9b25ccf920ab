package rest

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"sync/atomic"

	"github.com/go-chi/chi/v5"

	"atrium/internal/apperr"
	"atrium/internal/gate"
	"atrium/internal/op"
)

// route is a row of the table.
type route struct {
	method string
	path   string // below /v1
	status int    // of success
	op     *op.Info
	body   reflect.Type // of a successful answer; nil for none
	call   func(s *Server, w http.ResponseWriter, r *http.Request) error
	size   *atomic.Int64 // of the last answer's body, in bytes
}

// Single is the envelope of one resource.
type Single[T any] struct {
	Data T `json:"data"`
}

// Page is the envelope of a list.
type Page[T any] struct {
	Data       []T        `json:"data"`
	Pagination Pagination `json:"pagination"`
}

// Pagination says which part of a list a page is.
type Pagination struct {
	Page       int `json:"page" doc:"Counted from 1."`
	PageSize   int `json:"pageSize"`
	TotalPages int `json:"totalPages" doc:"0 when there is nothing."`
	TotalCount int `json:"totalCount"`
}

// one is a row that answers with a single resource.
func one[In, Out, Body any](method, path string, status int, o *op.Operation[In, Out], out func(Out) Body) route {
	return row(method, path, status, o, reflect.TypeFor[Single[Body]](), func(v Out) any { return Single[Body]{out(v)} }, func(v any) any {
		if r, ok := v.(Out); ok {
			return Single[Body]{out(r)}
		}
		return nil
	})
}

// list is a row that answers with a page.
func list[In, T, Body any](path string, o *op.Operation[In, op.List[T]], out func(T) Body) route {
	return row(http.MethodGet, path, http.StatusOK, o, reflect.TypeFor[Page[Body]](), func(l op.List[T]) any {
		p := Page[Body]{Data: make([]Body, len(l.Rows)), Pagination: Pagination{
			Page: l.Page.Number, PageSize: l.Page.Size, TotalPages: l.Pages(), TotalCount: l.Total,
		}}
		for i, v := range l.Rows {
			p.Data[i] = out(v)
		}
		return p
	}, nil)
}

// bare is a row whose answer has no envelope.
func bare[In, Out, Body any](method, path string, o *op.Operation[In, Out], out func(Out) Body) route {
	return row(method, path, http.StatusOK, o, reflect.TypeFor[Body](), func(v Out) any { return out(v) }, nil)
}

// gone is a row that deletes and answers with nothing; out renders what If-Match is held against.
func gone[In, Row, Body any](path string, o *op.Operation[In, struct{}], out func(Row) Body) route {
	return row(http.MethodDelete, path, http.StatusNoContent, o, nil, func(struct{}) any { return nil }, func(v any) any {
		if r, ok := v.(Row); ok {
			return Single[Body]{out(r)}
		}
		return nil
	})
}

// row makes a row: wrap turns a result into the answer's body; tagged turns a row as it stands into the body that its
// ETag is made of (nil where there are none).
func row[In, Out any](method, path string, status int, o *op.Operation[In, Out], body reflect.Type, wrap func(Out) any, tagged func(any) any) route {
	rt := route{method: method, path: path, status: status, op: o.Info(), body: body, size: &atomic.Int64{}}
	render := func(v any) (op.Answer, error) {
		out, ok := v.(Out)
		if !ok {
			return op.Answer{}, fmt.Errorf("render: %T is no result of %s", v, rt.op.Name)
		}
		return rt.answer(wrap(out), tagged != nil)
	}
	rt.call = func(s *Server, w http.ResponseWriter, r *http.Request) error {
		ctx := r.Context()
		if err := o.Admit(ctx, s.engine, pathValue(r, "id")); err != nil {
			return err
		}
		var raw []byte
		if rt.op.Input.HasBody() {
			var err error
			if raw, err = readBody(w, r); err != nil {
				return err
			}
		}
		query, err := url.ParseQuery(r.URL.RawQuery)
		if err != nil {
			return apperr.InvalidField("query", "must be parameters joined by '&', percent-encoded")
		}
		in, err := o.Decode(raw, func(name string) string { return pathValue(r, name) }, query)
		if err != nil {
			return err
		}
		call, err := callOf(r, raw, render)
		if err != nil {
			return err
		}
		if tagged != nil {
			call.IfMatch = ifMatch(r, tagged)
		}
		out, kept, err := op.Run(ctx, s.engine, o, in, call.Checked())
		if err != nil {
			return err
		}
		if kept == nil {
			answer, err := render(out)
			if err != nil {
				return err
			}
			kept = &answer
		}
		reply(w, r, kept)
		return nil
	}
	return rt
}

// pathValue returns a part of the path, decoded. chi hands it out as it came when its encoding is an unusual one.
func pathValue(r *http.Request, name string) string {
	v := chi.URLParam(r, name)
	if r.URL.RawPath == "" {
		return v
	}
	if decoded, err := url.PathUnescape(v); err == nil {
		return decoded
	}
	return v
}

// answer renders a body with its headers.
func (rt *route) answer(body any, tag bool) (op.Answer, error) {
	a := op.Answer{Status: rt.status, Header: map[string]string{}}
	if body == nil {
		return a, nil
	}
	var err error
	if a.Body, err = encode(body, int(rt.size.Load())); err != nil {
		return a, err
	}
	rt.size.Store(int64(len(a.Body)))
	if tag {
		a.Header["ETag"] = etag(a.Body)
	}
	if rt.status == http.StatusCreated {
		if id := idIn(body); id != "" && rt.method == http.MethodPost {
			a.Header["Location"] = "/v1/" + strings.ToLower(collection(rt.path)) + "/" + id
		}
	}
	return a, nil
}

// collection is the last part of a path that one posts to: "offerings" of "/services/{id}/offerings".
func collection(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// idIn returns the id of an enveloped resource.
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

// encode writes JSON without HTML escapes and without a line's end; size is how long it is likely to be.
func encode(v any, size int) ([]byte, error) {
	b := bytes.NewBuffer(make([]byte, 0, size+size/8+64))
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("encode the answer: %w", err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// etag is a strong tag of an answer's bytes.
func etag(body []byte) string {
	sum := sha256.Sum256(body)
	return `"` + base64.RawURLEncoding.EncodeToString(sum[:15]) + `"`
}

// ifMatch returns the check of the request's If-Match header; nil when it has none. Weak tags never match.
func ifMatch(r *http.Request, tagged func(any) any) func(any) bool {
	header := strings.Join(r.Header.Values("If-Match"), ",")
	if header == "" || r.Method != http.MethodPatch && r.Method != http.MethodDelete {
		return nil
	}
	return func(row any) bool {
		if strings.TrimSpace(header) == "*" {
			return true
		}
		body := tagged(row)
		if body == nil {
			return false
		}
		b, err := encode(body, 0)
		if err != nil {
			return false
		}
		return anyTag(header, etag(b))
	}
}

// anyTag tells whether a header's list of tags holds tag.
func anyTag(header, tag string) bool {
	for part := range strings.SplitSeq(header, ",") {
		if strings.TrimSpace(part) == tag {
			return true
		}
	}
	return false
}

// reply sends an answer, or 304 when the caller has it already.
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

// readBody reads a JSON body. Returns unsupported_media_type or payload_too_large.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if r.ContentLength > maxBody {
		return nil, apperr.New(apperr.PayloadTooLarge, "The body may have 1 MiB.")
	}
	media, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if charset := params["charset"]; err != nil || media != "application/json" || charset != "" && !strings.EqualFold(charset, "utf-8") {
		return nil, apperr.New(apperr.UnsupportedMediaType, "Send Content-Type: application/json.")
	}
	if enc := r.Header.Get("Content-Encoding"); enc != "" && !strings.EqualFold(enc, "identity") {
		return nil, apperr.New(apperr.UnsupportedMediaType, "Send the body without a content encoding.")
	}
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		return nil, apperr.New(apperr.PayloadTooLarge, "The body may have 1 MiB.")
	}
	if err != nil {
		return nil, apperr.Wrap(err, apperr.Validation, "The body could not be read.")
	}
	return raw, nil
}

// maxKey bounds an idempotency key, in characters.
const maxKey = 255

// callOf reads what the request's headers add to the operation.
func callOf(r *http.Request, raw []byte, render func(any) (op.Answer, error)) (op.Call, error) {
	keys := r.Header.Values("Idempotency-Key")
	if r.Method != http.MethodPost || len(keys) == 0 {
		return op.Call{}, nil
	}
	key := keys[0]
	if len(keys) > 1 || key == "" || len(key) > maxKey || strings.ContainsFunc(key, func(c rune) bool { return c < ' ' || c > '~' }) {
		return op.Call{}, apperr.InvalidField("Idempotency-Key", "must be one text of 1 to 255 printable ASCII characters")
	}
	h := sha256.New()
	_, _ = fmt.Fprintf(h, "%s\n%s\n", r.Method, r.URL.RequestURI())
	_, _ = h.Write(raw)
	call := op.Call{IdempotencyKey: key, Render: render}
	h.Sum(call.Fingerprint[:0])
	return call, nil
}

// handle makes a row's handler.
func (s *Server) handle(rt route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		gate.SetRoute(w, "/v1"+rt.path)
		if err := rt.call(s, w, r); err != nil {
			s.fail(w, r, err)
		}
	})
}
