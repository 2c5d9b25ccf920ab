package rest

import (
	"encoding/json"
	"net/http"
	"reflect"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"atrium/internal/gate"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/ratelimit"
	"atrium/internal/webhook/inbound"
)

// inboundPath is the path of inbound webhooks, without the id. It is no row of the table, because its callers send no credential
// but a signature of the body, and no operation's input.
const inboundPath = "/v1/webhooks/inbound/"

// inboundPatience is how long reading the body of a call may take while the caller is not authenticated yet.
const inboundPatience = 20 * time.Second

// The rate limits of one client network. The first leaves room for senders that call for many companies from one address.
var (
	inboundCalls    = gate.Allowance{Name: "inbound", PerMinute: 12_000, PerDay: 5_000_000}
	inboundFailures = gate.Allowance{Name: "inbound failures", PerMinute: 600, PerDay: 50_000}
)

// isInbound reports whether a path is an inbound webhook's.
func isInbound(path string) bool {
	id, ok := strings.CutPrefix(path, inboundPath)
	return ok && id != "" && !strings.Contains(id, "/")
}

// handleInbound registers the endpoint of inbound webhooks.
func (s *Server) handleInbound(g *gate.Gate, outside inbound.Outside, patience time.Duration) error {
	door, err := inbound.NewDoor(s.engine, g.Limiter, outside, s.log)
	if err != nil {
		return err
	}
	take := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := s.takeInbound(door, patience, w, r); err != nil {
			s.fail(w, r, err)
		}
	})
	bounded := g.Anonymous.Every(inboundCalls, g.Anonymous.Failures(inboundFailures, take, s.tooMany), s.tooMany)
	s.router.Post(inboundPath+"{id}", func(w http.ResponseWriter, r *http.Request) {
		gate.SetRoute(w, inboundPath+"{id}")
		gate.SetOperation(w, inbound.Receive.Info().Name)
		w.Header().Set("Cache-Control", "no-store")
		bounded.ServeHTTP(w, r)
	})
	return nil
}

// takeInbound reads a call and answers it.
func (s *Server) takeInbound(door *inbound.Door, patience time.Duration, w http.ResponseWriter, r *http.Request) error {
	connection := http.NewResponseController(w)
	_ = connection.SetReadDeadline(time.Now().Add(patience)) // where it cannot be set, the server's own deadline holds
	call := inbound.Call{WebhookID: pathValue(r, "id"), Header: r.Header, IP: gate.RemoteIP(r), UserAgent: r.UserAgent(), RequestID: gate.RequestID(w)}
	raw, err := gate.ReadAny(w, r)
	if apperr.CodeOf(err) == apperr.PayloadTooLarge {
		err = door.Unread(r.Context(), call, r.ContentLength, err)
	}
	if err != nil {
		return err // the deadline stays, because the server reads the rest of the body before it answers
	}
	_ = connection.SetReadDeadline(time.Time{})
	call.Body = raw
	out, err := door.Take(r.Context(), call)
	if err != nil {
		return err
	}
	status := http.StatusAccepted
	switch out.(type) {
	case inbound.Challenge, inbound.Said:
		status = http.StatusOK
	}
	body, err := encode(out)
	if err != nil {
		return err
	}
	gate.Send(w, status, body)
	return nil
}

// tooMany answers 429 to a network that has made too many calls.
func (s *Server) tooMany(w http.ResponseWriter, r *http.Request, wait time.Duration) {
	e := apperr.New(apperr.RateLimited, "Too many calls come from your network. Try again later.")
	e.RetryAfter = ratelimit.RetryAfter(wait)
	s.fail(w, r, e)
}

// addInbound describes the calls of inbound webhooks.
func (d *document) addInbound() {
	header := func(name, doc string, example any) *huma.Param {
		return &huma.Param{Name: name, In: "header", Description: doc, Schema: &huma.Schema{Type: huma.TypeString}, Example: example}
	}
	answer := d.answers.Schema(reflect.TypeFor[inbound.Accepted](), true, "")
	d.answers.SchemaFromRef(answer.Ref).Examples = []any{example(reflect.TypeFor[inbound.Accepted](), "")}
	o := &huma.Operation{
		OperationID: "callInboundWebhook", Method: http.MethodPost, Path: inboundPath + "{id}", Summary: inbound.Receive.Info().Summary,
		Tags: []string{"Inbound webhooks"},
		Description: "Takes no API key: the call is signed with the webhook's secret, in the style that the webhook was made with. " +
			"A call that the webhook's condition does not let through starts nothing, and is answered as ignored. " +
			"The answer comes once the execution is kept, before it begins. Limits: 1 MiB, and 12,000 calls a minute for each webhook and for each network.",
		Extensions: map[string]any{"x-scope": ""},
		Security:   []map[string][]string{{}},
		Parameters: []*huma.Param{
			{Name: "id", In: "path", Required: true, Description: "The webhook's id.", Schema: &huma.Schema{Type: huma.TypeString}, Example: "whi_01k9ye4ryzf7stj6dqnm8x2v3b"},
			header("x-webhook-signature", "sha256= and the HMAC-SHA256 of the body's bytes in hexadecimal; other styles have headers of their own.",
				"sha256=8a1d3c6f0be0a2f4d0b8f1f6a5a3bb8a3f5f1e0f4b7a4c1d2e3f405162738495"),
			header("webhook-id", "The same for every repetition of a call: only the first one starts a workflow. Idempotency-Key is read, too.", "delivery-4711"),
		},
		RequestBody: &huma.RequestBody{Required: true, Description: "Any JSON value, as application/json, text/json or application/*+json; in the styles github and slack a form, too. Workflows read it as webhook.body.", Content: map[string]*huma.MediaType{
			"application/json": {Schema: &huma.Schema{}, Example: json.RawMessage(`{"action": "opened", "issue": {"title": "Printer on fire"}}`)},
		}},
		Responses: map[string]*huma.Response{"202": {
			Description: "Accepted, or ignored", Headers: headerRefs("X-Request-Id"),
			Content: map[string]*huma.MediaType{"application/json": {Schema: answer, Example: example(reflect.TypeFor[inbound.Accepted](), "")}},
		}, "200": {
			Description: "The challenge of Slack, sent back; no workflow is started. A command of Slack is answered so, too, with a short text.", Headers: headerRefs("X-Request-Id"),
			Content: map[string]*huma.MediaType{"application/json": {Schema: d.answers.Schema(reflect.TypeFor[inbound.Challenge](), true, ""), Example: map[string]any{"challenge": "3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P"}}},
		}},
	}
	d.put(o,
		http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusConflict, http.StatusRequestEntityTooLarge,
		http.StatusUnsupportedMediaType, http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusServiceUnavailable,
	)
}
