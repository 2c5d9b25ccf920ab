package stripe_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/stripe/stripe-mock/embedded"
	mock "github.com/stripe/stripe-mock/server"
	"go.uber.org/goleak"

	"atrium/ent/payment"
	"atrium/internal/billing"
	"atrium/internal/billing/stripe"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var charge = billing.Charge{
	Company: "co_1", Invoice: "inv_1", Payment: "pay_1", Number: "INV-000007", Amount: 1_900, Currency: "usd", Customer: "cus_1", Method: "pm_1",
}

// Stripe's own mock validates every request against Stripe's OpenAPI document, and responds with its examples.
func TestRequestsAreThoseOfTheAPI(t *testing.T) {
	t.Parallel()
	spec, err := mock.LoadSpec(embedded.OpenAPISpec, "")
	require.NoError(t, err)
	fixtures, err := mock.LoadFixtures(embedded.OpenAPIFixtures, "")
	require.NoError(t, err)
	stub, err := mock.NewStubServer(fixtures, spec, false, false)
	require.NoError(t, err)
	var mu sync.Mutex
	var seen []string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rec := httptest.NewRecorder()
		stub.HandleRequest(rec, r)
		mu.Lock()
		defer mu.Unlock()
		seen = append(seen, fmt.Sprintf("%s %s %d", r.Method, strings.SplitN(r.URL.Path, "/pi_", 2)[0], rec.Code))
		w.WriteHeader(rec.Code)
		_, _ = w.Write(rec.Body.Bytes())
	}))
	defer srv.Close()
	p := stripe.New("sk_test_123", srv.URL)
	out, err := p.Charge(t.Context(), charge)
	require.NoError(t, err)
	require.Regexp(t, "^pi_", out.Reference)
	_, known, err := p.Find(t.Context(), charge)
	require.NoError(t, err)
	require.False(t, known)
	require.Equal(t, "POST /v1/payment_intents 200", seen[0])
	require.Equal(t, "GET /v1/payment_intents 200", seen[len(seen)-1])
}

// account simulates a Stripe account with state, whose behaviour a test sets.
type account struct {
	mu       sync.Mutex
	intents  []string          // JSON, the oldest first
	answers  map[string]string // by idempotency key
	status   string            // of the next intent
	fails    func(w http.ResponseWriter) bool
	calls    []string
	requests []url.Values
	keys     []string
}

func (a *account) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.calls = append(a.calls, r.Method+" "+r.URL.Path)
	w.Header().Set("Request-Id", "req_1")
	if a.fails != nil && a.fails(w) {
		return
	}
	switch {
	case r.Method == http.MethodGet:
		var out []string
		start := len(a.intents)
		for i, intent := range a.intents {
			if after := r.URL.Query().Get("starting_after"); after != "" && strings.Contains(intent, `"id":"`+after+`"`) {
				start = i
			}
		}
		for i := start - 1; i >= 0 && len(out) < 100; i-- {
			out = append(out, a.intents[i])
		}
		_, _ = fmt.Fprintf(w, `{"object":"list","has_more":%t,"data":[%s]}`, start-len(out) > 0, strings.Join(out, ","))
	case strings.HasSuffix(r.URL.Path, "/cancel"):
		_, _ = fmt.Fprint(w, `{"id":"pi_1","object":"payment_intent","status":"canceled"}`)
	default:
		body, _ := io.ReadAll(r.Body)
		form, _ := url.ParseQuery(string(body))
		a.requests = append(a.requests, form)
		key := r.Header.Get("Idempotency-Key")
		a.keys = append(a.keys, key)
		if _, ok := a.answers[key]; !ok {
			intent := a.intent(len(a.intents)+1, form.Get("metadata[payment]"))
			a.intents = append(a.intents, intent)
			a.answers[key] = intent
		}
		if a.status == "requires_payment_method" {
			w.WriteHeader(http.StatusPaymentRequired)
			_, _ = fmt.Fprintf(w, `{"error":{"type":"card_error","code":"card_declined","decline_code":"insufficient_funds","message":"No.","payment_intent":%s}}`, a.answers[key])
			return
		}
		_, _ = fmt.Fprint(w, a.answers[key])
	}
}

func (a *account) intent(n int, of string) string {
	return fmt.Sprintf(`{"id":"pi_%d","object":"payment_intent","status":%q,"client_secret":"pi_secret_xyz","metadata":{"payment":%q}}`, n, a.status, of)
}

func open(t *testing.T) (*account, *stripe.Provider) {
	t.Helper()
	a := &account{answers: map[string]string{}, status: "succeeded"}
	srv := httptest.NewServer(a)
	t.Cleanup(srv.Close)
	return a, stripe.New("sk_test_123", srv.URL)
}

func TestCharge(t *testing.T) {
	t.Parallel()
	a, p := open(t)
	for range 2 {
		out, err := p.Charge(t.Context(), charge)
		require.NoError(t, err)
		require.Equal(t, billing.Outcome{Status: payment.StatusSucceeded, Reference: "pi_1"}, out)
	}
	require.Len(t, a.intents, 1)
	require.Equal(t, []string{"pay_1", "pay_1"}, a.keys, "the key is the same on every attempt")
	require.Equal(t, a.requests[0], a.requests[1], "and so is the request: Stripe refuses the key otherwise")
	require.Equal(t, []string{"1900", "usd", "cus_1", "pm_1", "true", "true", "Invoice INV-000007"}, []string{
		a.requests[0].Get("amount"), a.requests[0].Get("currency"), a.requests[0].Get("customer"), a.requests[0].Get("payment_method"),
		a.requests[0].Get("confirm"), a.requests[0].Get("off_session"), a.requests[0].Get("description"),
	})
}

// A failed payment cannot succeed later: its intent is cancelled.
func TestRefusals(t *testing.T) {
	t.Parallel()
	for status, want := range map[string]billing.Outcome{
		"requires_payment_method": {Status: payment.StatusFailed, Reference: "pi_1", Failure: "insufficient_funds"},
		"requires_action":         {Status: payment.StatusFailed, Reference: "pi_1", Failure: "canceled"},
		"canceled":                {Status: payment.StatusFailed, Reference: "pi_1", Failure: "canceled"},
		"processing":              {Status: payment.StatusPending, Reference: "pi_1"},
	} {
		t.Run(status, func(t *testing.T) {
			t.Parallel()
			a, p := open(t)
			a.status = status
			out, err := p.Charge(t.Context(), charge)
			require.NoError(t, err)
			require.Equal(t, want, out)
			require.Equal(t, strings.HasPrefix(status, "requires"), a.calls[len(a.calls)-1] == "POST /v1/payment_intents/pi_1/cancel")
		})
	}
}

// After a charge without a response the outcome is unknown, and no error quotes Stripe's own.
func TestErrors(t *testing.T) {
	t.Parallel()
	answer := func(status int, body string) func(http.ResponseWriter) bool {
		return func(w http.ResponseWriter) bool {
			w.WriteHeader(status)
			_, _ = fmt.Fprint(w, body)
			return true
		}
	}
	for name, fails := range map[string]func(http.ResponseWriter) bool{
		"their fault":   answer(500, `{"error":{"type":"api_error","message":"secret-x"}}`),
		"too many":      answer(429, `{"error":{"type":"invalid_request_error","code":"rate_limit","message":"secret-x"}}`),
		"our key":       answer(401, `{"error":{"type":"invalid_request_error","message":"Invalid API Key provided: sk_test_secret-x"}}`),
		"key in use":    answer(409, `{"error":{"type":"idempotency_error","code":"idempotency_key_in_use","message":"secret-x"}}`),
		"no JSON":       answer(502, `<html>secret-x</html>`),
		"our request":   answer(400, `{"error":{"type":"invalid_request_error","param":"amount","message":"secret-x"}}`),
		"a broken line": func(http.ResponseWriter) bool { panic(http.ErrAbortHandler) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, p := open(t)
			a.fails = fails
			_, err := p.Charge(t.Context(), charge)
			require.Error(t, err)
			require.NotContains(t, err.Error(), "secret-x")
			_, _, err = p.Find(t.Context(), charge)
			require.Error(t, err)
			require.NotContains(t, err.Error(), "secret-x")
		})
	}
	a, p := open(t)
	a.fails = answer(400, `{"error":{"type":"invalid_request_error","code":"resource_missing","param":"payment_method","message":"secret-x"}}`)
	out, err := p.Charge(t.Context(), charge)
	require.NoError(t, err)
	require.Equal(t, billing.Outcome{Status: payment.StatusFailed, Failure: "resource_missing"}, out, "the company's own matter")
	a.fails = answer(400, `{"error":{"type":"invalid_request_error","code":"amount_too_small","param":"amount","message":"secret-x"}}`)
	out, err = p.Charge(t.Context(), charge)
	require.NoError(t, err)
	require.Equal(t, billing.Outcome{Status: payment.StatusFailed, Failure: "amount_too_small"}, out, "it will never succeed")
}

// A payment is found however many came after it.
func TestFind(t *testing.T) {
	t.Parallel()
	a, p := open(t)
	for i := range 250 {
		a.intents = append(a.intents, a.intent(i+1, fmt.Sprintf("pay_%d", i+1)))
	}
	out, known, err := p.Find(t.Context(), charge)
	require.NoError(t, err)
	require.True(t, known)
	require.Equal(t, billing.Outcome{Status: payment.StatusSucceeded, Reference: "pi_1"}, out)
	require.Len(t, a.calls, 3)
	other := charge
	other.Payment = "pay_251"
	_, known, err = p.Find(t.Context(), other)
	require.NoError(t, err)
	require.False(t, known)
}
