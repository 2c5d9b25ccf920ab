package apitest

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/ent/event"
)

// Scenario is one call and the expectations on its answer. Expectations that are zero are not checked; what the API promises of
// every answer always is.
type Scenario struct {
	Name   string
	As     Caller
	Method string // GET when empty
	Path   string // with its query
	Header http.Header
	Body   any // string and []byte are sent as they are, anything else as JSON; nil for no body

	WantStatus   int            // 200, 201 or 204 by method when 0
	WantCode     string         // the code of the error
	WantFields   []string       // all fields that details name, in any order
	WantContains []string       // in the body
	WantNot      []string       // in neither the body nor the headers
	WantData     map[string]any // values by path below data ("sla.state"); numbers as float64 or int
	WantAudit    *AuditWant
	WantEvents   []string // types written by the call, in order; []string{} for none
	WantNoChange bool     // the call changes nothing, so it leaves no audit entry

	Client *http.Client // the server's own when nil
}

// AuditWant is what the one audit entry of a call must say; zero fields are not checked.
type AuditWant struct {
	Action, Outcome, ResourceType, ResourceID, ActorID, ActorType string
	Company                                                       string
	Changed                                                       []string // fields, all of them
}

// Run runs scenarios one after the other, each as a subtest.
func (s *Server) Run(t *testing.T, scenarios []Scenario) {
	t.Helper()
	for _, sc := range scenarios {
		name := sc.Name
		if name == "" {
			name = sc.Method + " " + sc.Path
		}
		t.Run(name, func(t *testing.T) { s.Do(t, sc) })
	}
}

// Do makes the call, and checks its answer against the scenario and what the API promises of every answer.
func (s *Server) Do(tb testing.TB, sc Scenario) *Answer {
	tb.Helper()
	if sc.Method == "" {
		sc.Method = http.MethodGet
	}
	var last string
	if sc.WantEvents != nil {
		last = s.lastEvent(tb)
	}
	a := s.Send(tb, sc)
	s.checkContract(tb, sc, a)
	want := sc.WantStatus
	if want == 0 {
		want = map[string]int{http.MethodPost: http.StatusCreated, http.MethodDelete: http.StatusNoContent}[sc.Method]
		if want == 0 {
			want = http.StatusOK
		}
	}
	require.Equal(tb, want, a.Status, "%s %s as %s: %s", sc.Method, sc.Path, sc.As.Name, a.Body)
	if sc.WantCode != "" {
		require.Equal(tb, sc.WantCode, a.Text("error"), "%s", a.Body)
	}
	if sc.WantFields != nil {
		require.ElementsMatch(tb, sc.WantFields, a.Fields(), "%s %s: %s", sc.Method, sc.Path, a.Body)
	}
	for _, text := range sc.WantContains {
		require.Contains(tb, string(a.Body), text)
	}
	s.requireAbsent(tb, a, sc.WantNot)
	for path, value := range sc.WantData {
		if n, ok := value.(int); ok {
			value = float64(n)
		}
		require.True(tb, a.Has("data."+path), "data.%s is missing: %s", path, a.Body)
		require.Equal(tb, value, a.Get("data."+path), "data.%s: %s", path, a.Body)
	}
	if sc.WantAudit != nil {
		s.holdAudit(tb, sc.WantAudit, a)
	}
	if sc.WantEvents != nil {
		require.Equal(tb, sc.WantEvents, s.eventsAfter(tb, last))
	}
	return a
}

// Sentence is the pattern of the message of every detail in JSON, in every API.
const Sentence = `^([A-Z]|\\")((.*[^.])?[.?!])$`

// eachDetail matches the details in a body, with their messages.
var eachDetail = regexp.MustCompile(`\{"field":"[^"]*","message":"((?:[^"\\]|\\.)*)"\}`)

// Send makes the call and reads the whole answer.
func (s *Server) Send(tb testing.TB, sc Scenario) *Answer {
	tb.Helper()
	var body io.Reader
	if sc.Body != nil {
		body = bytes.NewReader(encoded(tb, sc.Body))
	}
	if sc.Method == "" {
		sc.Method = http.MethodGet
	}
	req, err := http.NewRequestWithContext(context.Background(), sc.Method, s.URL+sc.Path, body)
	require.NoError(tb, err)
	if sc.Body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	for _, h := range []http.Header{sc.As.Header, sc.Header} {
		for k, v := range h {
			req.Header[http.CanonicalHeaderKey(k)] = v
		}
	}
	client := sc.Client
	if client == nil {
		client = s.HTTP
	}
	res, err := client.Do(req)
	require.NoError(tb, err, "%s %s", sc.Method, sc.Path)
	defer res.Body.Close()
	read, err := io.ReadAll(res.Body)
	require.NoError(tb, err, "%s %s", sc.Method, sc.Path)
	for _, details := range eachDetail.FindAllSubmatch(read, -1) {
		require.Regexp(tb, Sentence, string(details[1]), "%s %s", sc.Method, sc.Path)
	}
	return &Answer{Status: res.StatusCode, Header: res.Header, Body: read, tb: tb}
}

func encoded(tb testing.TB, body any) []byte {
	tb.Helper()
	switch b := body.(type) {
	case string:
		return []byte(b)
	case []byte:
		return b
	}
	b, err := json.Marshal(body)
	require.NoError(tb, err)
	return b
}

// checkContract checks what the API promises of every answer.
func (s *Server) checkContract(tb testing.TB, sc Scenario, a *Answer) {
	tb.Helper()
	what := sc.Method + " " + sc.Path + " as " + sc.As.Name
	require.Regexp(tb, `^rid_[0-9a-z]{26}$`, a.RequestID(), what)
	require.NotEqual(tb, http.StatusInternalServerError, a.Status, "%s: %s", what, a.Body)
	path, _, _ := strings.Cut(sc.Path, "?")
	require.NoError(tb, s.validator().Check(sc.Method, path, a.Status, a.Header.Get("Content-Type"), a.Body), what)
	switch a.Status {
	case http.StatusUnauthorized:
		require.NotEmpty(tb, a.Header.Get("WWW-Authenticate"), what)
		require.Empty(tb, a.Header.Get("RateLimit"), "%s: who is nobody has no limits", what)
	case http.StatusMethodNotAllowed:
		require.NotEmpty(tb, a.Header.Get("Allow"), what)
	case http.StatusTooManyRequests:
		retry, err := strconv.Atoi(a.Header.Get("Retry-After"))
		require.NoError(tb, err, what)
		require.Positive(tb, retry, what)
		if sc.Method != http.MethodHead {
			require.Equal(tb, retry, a.Int("retryAfter"), what)
		}
	}
	if strings.HasPrefix(path, "/v1/") && path != "/v1/openapi.json" && a.Status != http.StatusUnauthorized {
		require.Regexp(tb, `^"minute";q=\d+;w=60, "day";q=\d+;w=86400$`, a.Header.Get("RateLimit-Policy"), what)
		require.Regexp(tb, `^"(minute|day)";r=\d+;t=\d+$`, a.Header.Get("RateLimit"), what)
	}
	for _, h := range []http.Header{sc.As.Header, sc.Header} {
		for _, k := range []string{"X-Api-Key", "Authorization", "Cookie"} {
			if v := h.Get(k); len(v) > 20 {
				require.NotContains(tb, string(a.Body), v, "%s: an answer repeats a credential", what)
			}
		}
	}
	s.audited(tb, sc, a, what)
}

// audited checks the rule of audit entries: a change leaves one with the outcome allowed, a refusal by rights one with denied, a
// conflict one with failed, and everything else none.
func (s *Server) audited(tb testing.TB, sc Scenario, a *Answer, what string) {
	tb.Helper()
	want := ""
	switch {
	case sc.WantNoChange:
	case a.Status < 300 && sc.Method != http.MethodGet && sc.Method != http.MethodHead && a.Header.Get("Idempotency-Replayed") == "":
		want = "allowed"
	case a.Status == http.StatusForbidden:
		want = "denied"
	case a.Status == http.StatusConflict, a.Status == http.StatusPreconditionFailed:
		want = "failed"
	}
	rows := s.Audit(tb, a.RequestID())
	if a.Status == http.StatusOK && sc.Method == http.MethodPost && strings.HasSuffix(sc.Path, "/bulk") { // each row is audited by itself
		several, _ := a.Get("data").([]any)
		want := []string{}
		for _, row := range several {
			of, _ := row.(map[string]any)
			switch status := of["status"]; {
			case status == 200.0 && a.Header.Get("Idempotency-Replayed") == "":
				want = append(want, "allowed")
			case status == 403.0:
				want = append(want, "denied")
			case status == 409.0, status == 412.0:
				want = append(want, "failed")
			}
		}
		got := []string{}
		for _, e := range rows {
			got = append(got, string(e.Outcome))
		}
		require.ElementsMatch(tb, want, got, what)
		return
	}
	if want == "allowed" && strings.HasSuffix(sc.Path, "/packs/install") { // what it makes is audited thing by thing
		items, _ := a.Get("data.items").([]any)
		require.Len(tb, rows, entriesOf(items), what)
		return
	}
	if want == "" {
		require.Empty(tb, rows, "%s: %d needs no audit entry", what, a.Status)
		return
	}
	require.Len(tb, rows, 1, "%s: %d is audited once", what, a.Status)
	require.EqualValues(tb, want, rows[0].Outcome, what)
	require.Equal(tb, sc.As.Company, rows[0].CompanyID, what)
}

// entriesOf returns how many audit entries the things that a pack has made leave: a workflow is created and published.
func entriesOf(items []any) (n int) {
	for _, it := range items {
		of, _ := it.(map[string]any)
		if of["action"] != "make" {
			continue
		}
		if n++; of["kind"] == "Workflow" {
			n++
		}
	}
	return n
}

func (s *Server) holdAudit(tb testing.TB, want *AuditWant, a *Answer) {
	tb.Helper()
	rows := s.Audit(tb, a.RequestID())
	require.Len(tb, rows, 1)
	e := rows[0]
	resource := ""
	if e.ResourceID != nil {
		resource = *e.ResourceID
	}
	for _, c := range []struct{ what, want, got string }{
		{"action", want.Action, e.Action},
		{"outcome", want.Outcome, string(e.Outcome)},
		{"resource type", want.ResourceType, e.ResourceType},
		{"resource id", want.ResourceID, resource},
		{"actor", want.ActorID, e.ActorID},
		{"actor type", want.ActorType, e.ActorType},
		{"company", want.Company, e.CompanyID},
	} {
		if c.want != "" {
			require.Equal(tb, c.want, c.got, "audit entry's %s", c.what)
		}
	}
	if want.Changed != nil {
		changes := map[string]json.RawMessage{}
		if len(e.Changes) > 0 {
			require.NoError(tb, json.Unmarshal(e.Changes, &changes))
		}
		got := []string{}
		for name := range changes {
			got = append(got, name)
		}
		require.ElementsMatch(tb, want.Changed, got, "changes: %s", e.Changes)
	}
}

// requireAbsent checks that texts occur nowhere in an answer.
func (s *Server) requireAbsent(tb testing.TB, a *Answer, texts []string) {
	tb.Helper()
	for _, text := range texts {
		require.NotContains(tb, string(a.Body), text)
		for k, values := range a.Header {
			for _, v := range values {
				require.NotContains(tb, v, text, "header %s", k)
			}
		}
	}
}

func (s *Server) lastEvent(tb testing.TB) string {
	tb.Helper()
	ids, err := s.World.Store.Reader().Event.Query().Order(event.ByID()).IDs(System())
	require.NoError(tb, err)
	if len(ids) == 0 {
		return ""
	}
	return ids[len(ids)-1]
}

func (s *Server) eventsAfter(tb testing.TB, last string) []string {
	tb.Helper()
	rows, err := s.World.Store.Reader().Event.Query().Where(event.IDGT(last)).Order(event.ByID()).All(System())
	require.NoError(tb, err)
	out := []string{}
	for _, e := range rows {
		out = append(out, e.Type)
	}
	return out
}
