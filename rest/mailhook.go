package rest

import (
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"atrium/internal/gate"
	"atrium/internal/notify/mailbox"
	"atrium/internal/platform/apperr"
)

// The webhook of a mailbox is no row of the table: its callers are mail providers, which send a whole message, in the ways of theirs.
var mailHookPath = mailbox.Path("{id}")

// maxMailCall bounds a call: a message of 25 MB as JSON or in a form takes more.
const maxMailCall = 40 << 20

// messageFields are where providers put the raw message: SendGrid, Mailgun, Postmark.
var messageFields = []string{"email", "body-mime", "RawEmail"}

// isMailHook reports whether a path is the webhook of a mailbox.
func isMailHook(path string) bool {
	id, ok := strings.CutPrefix(path, mailbox.Path(""))
	return ok && id != "" && !strings.Contains(id, "/")
}

// MailTaken is the answer to a mail provider.
type MailTaken struct {
	Status string `json:"status" doc:"accepted: the message is kept." example:"accepted"`
}

// handleMailHook registers the endpoint that mail providers call.
func (s *Server) handleMailHook(g *gate.Gate, post *mailbox.Post) {
	take := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := s.takeMail(post, w, r); err != nil {
			s.fail(w, r, err)
		}
	})
	bounded := g.Anonymous.Every(inboundCalls, g.Anonymous.Failures(inboundFailures, take, s.tooMany), s.tooMany)
	s.router.Post(mailHookPath, func(w http.ResponseWriter, r *http.Request) {
		gate.SetRoute(w, mailHookPath)
		gate.SetOperation(w, "mailbox.deliver")
		w.Header().Set("Cache-Control", "no-store")
		bounded.ServeHTTP(w, r)
	})
}

// takeMail keeps the message that a call brings. The password is asked for before the body is read.
func (s *Server) takeMail(post *mailbox.Post, w http.ResponseWriter, r *http.Request) error {
	_, password, ok := r.BasicAuth()
	if !ok {
		w.Header().Set("WWW-Authenticate", `Basic realm="mailbox"`)
		return apperr.New(apperr.Unauthorized, "Send the password of the mailbox by HTTP basic authentication.")
	}
	m, leave, err := post.Enter(r.Context(), pathValue(r, "id"), password)
	if err != nil {
		return err
	}
	defer leave()
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(patience(maxMailCall / 8)))
	r.Body = http.MaxBytesReader(w, r.Body, maxMailCall)
	raw, err := messageOf(r)
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return apperr.New(apperr.PayloadTooLarge, "A message may have 25 MB.")
	}
	if err != nil {
		return err
	}
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
	if err := post.Deliver(r.Context(), m, raw); err != nil {
		return err
	}
	body, err := encode(MailTaken{Status: "accepted"})
	if err != nil {
		return err
	}
	gate.Send(w, http.StatusAccepted, body)
	return nil
}

// messageOf returns the raw message of a call: the body itself, or a field of the form or object that it is.
func messageOf(r *http.Request) ([]byte, error) {
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if kind == "multipart/form-data" {
		return messagePart(r)
	}
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	switch kind {
	case "application/x-www-form-urlencoded":
		form, err := url.ParseQuery(string(raw))
		if err != nil {
			return nil, apperr.Wrap(err, apperr.Validation, "The body is no form.")
		}
		return pick(form.Get)
	case "application/json":
		var object map[string]any
		if err := json.Unmarshal(raw, &object); err != nil {
			return nil, apperr.Wrap(err, apperr.Validation, "The body is no JSON object.")
		}
		return pick(func(name string) string {
			text, _ := object[name].(string)
			return text
		})
	}
	return raw, nil
}

// messagePart returns the field of a form with parts that holds the message; the others are not kept.
func messagePart(r *http.Request) ([]byte, error) {
	parts, err := r.MultipartReader()
	if err != nil {
		return nil, apperr.Wrap(err, apperr.Validation, "The body is no form.")
	}
	for {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			return nil, noMessage()
		}
		if err != nil {
			return nil, unreadableForm(err)
		}
		for _, name := range messageFields {
			if part.FormName() == name {
				raw, err := io.ReadAll(part)
				return raw, unreadableForm(err)
			}
		}
	}
}

// unreadableForm returns the refusal of a body that ends early, and the error itself of one that is too large.
func unreadableForm(err error) error {
	if _, large := errors.AsType[*http.MaxBytesError](err); err == nil || large {
		return err
	}
	return apperr.Wrap(err, apperr.Validation, "The form could not be read.")
}

// pick returns the first of the fields that is there.
func pick(field func(name string) string) ([]byte, error) {
	for _, name := range messageFields {
		if text := field(name); text != "" {
			return []byte(text), nil
		}
	}
	return nil, noMessage()
}

func noMessage() error {
	return apperr.New(apperr.Validation, "The call brings no raw message. Have the provider post the whole message: %s.", strings.Join(messageFields, ", "))
}

// addMailHook describes the calls of mail providers.
func (d *document) addMailHook() {
	answer := d.answers.Schema(reflect.TypeFor[MailTaken](), true, "")
	d.answers.SchemaFromRef(answer.Ref).Examples = []any{example(reflect.TypeFor[MailTaken](), "")}
	text := &huma.Schema{Type: huma.TypeString}
	form := func(name string) *huma.MediaType {
		return &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeObject, Properties: map[string]*huma.Schema{name: text}, Required: []string{name}}, Example: map[string]any{name: "From: ada@example.com\r\n…"}}
	}
	d.put(&huma.Operation{
		OperationID: "deliverMail", Method: http.MethodPost, Path: mailHookPath, Summary: "Bring a message to a mailbox", Tags: []string{"Inbound webhooks"},
		Description: "For mail providers. Takes no API key: the password of the mailbox is sent by HTTP basic authentication, with any user. " +
			"The whole message, at most 25 MB, is the body itself or a field of it. It is answered once it is kept; the same message sent again becomes nothing.",
		Extensions: map[string]any{"x-scope": ""}, Security: []map[string][]string{{}},
		Parameters: []*huma.Param{{Name: "id", In: "path", Required: true, Description: "The mailbox's id.", Schema: text, Example: "mbx_01k9ye4ryzf7stj6dqnm8x2v3b"}},
		RequestBody: &huma.RequestBody{Required: true, Description: "The raw message; " + strings.Join(messageFields, ", ") + " in a form or an object.", Content: map[string]*huma.MediaType{
			"message/rfc822": {Schema: text, Example: "From: ada@example.com\r\n…"}, "multipart/form-data": form("email"),
			"application/x-www-form-urlencoded": form("body-mime"), "application/json": form("RawEmail"),
		}},
		Responses: map[string]*huma.Response{"202": {
			Description: "Accepted", Headers: headerRefs("X-Request-Id"),
			Content: map[string]*huma.MediaType{"application/json": {Schema: answer, Example: example(reflect.TypeFor[MailTaken](), "")}},
		}},
	}, http.StatusBadRequest, http.StatusUnauthorized, http.StatusRequestEntityTooLarge, http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusServiceUnavailable)
}
