package rest_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/internal/op"
	"atrium/internal/platform/principal"
	"atrium/internal/test/apitest"
	"atrium/internal/test/testkit"
	"atrium/internal/webhook/inbound"
	"atrium/internal/workflow"
	"atrium/rest"
)

// hooked makes an inbound webhook of company A.
func hooked(t testing.TB, s *apitest.Server) inbound.Issued {
	t.Helper()
	ctx := s.World.As(s.World.A, principal.Owner)
	w := testkit.Run(t, s.World, ctx, workflow.CreateWorkflow, workflow.CreateWorkflowInput{Name: "Alerts", Definition: workflow.NewDefinition([]byte(
		`{"phases":[{"id":"a","type":"START"},{"id":"b","type":"END"}],"transitions":[{"from":"a","name":"next","to":"b"}]}`))})
	testkit.Run(t, s.World, ctx, workflow.PublishWorkflow, op.ByID{ID: w.ID})
	return testkit.Run(t, s.World, ctx, inbound.CreateWebhook, inbound.CreateWebhookInput{Name: "Alerts", WorkflowID: w.ID})
}

// inboundCall returns a call of a webhook, signed with a secret.
func inboundCall(t testing.TB, s *apitest.Server, id, secret, body string) *http.Request {
	t.Helper()
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(body))
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+inbound.Path(id), strings.NewReader(body))
	require.NoError(t, err)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-Webhook-Signature", "sha256="+hex.EncodeToString(mac.Sum(nil)))
	return r
}

// answered sends a call and returns its answer and the answer's body.
func answered(t testing.TB, s *apitest.Server, r *http.Request) (*http.Response, string) {
	t.Helper()
	res, err := s.HTTP.Do(r)
	require.NoError(t, err)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return res, string(body)
}

// The endpoint takes no credential but the signature, and answers without an envelope; refusals have the documented order and
// shape.
func TestInboundDoor(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		h := hooked(t, s)
		call := func(body string) *http.Request { return inboundCall(t, s, h.ID, string(h.SigningSecret), body) }

		res, body := answered(t, s, call(`[1, {"n": 1.50}]`))
		require.Equal(t, http.StatusAccepted, res.StatusCode, body)
		require.Equal(t, "application/json", res.Header.Get("Content-Type"))
		require.NotEmpty(t, res.Header.Get("X-Request-Id"))
		var out map[string]string
		require.NoError(t, json.Unmarshal([]byte(body), &out))
		require.Equal(t, `{"status":"accepted","webhookId":"`+h.ID+`","executionId":"`+out["executionId"]+`"}`, body)

		key := call(`{}`) // a credential besides the signature is neither required nor read
		key.Header.Set("X-Api-Key", "key_live_nonsense")
		res, _ = answered(t, s, key)
		require.Equal(t, http.StatusAccepted, res.StatusCode)

		charset := call(`{}`)
		charset.Header.Set("Content-Type", "Application/JSON; charset=UTF-8")
		res, _ = answered(t, s, charset)
		require.Equal(t, http.StatusAccepted, res.StatusCode)

		for name, c := range map[string]struct {
			change func(r *http.Request)
			body   string
			status int
			code   string
		}{
			"no signature":     {func(r *http.Request) { r.Header.Del("X-Webhook-Signature") }, `{}`, 401, "unauthorized"},
			"another's":        {func(r *http.Request) { r.Header.Set("X-Webhook-Signature", "sha256="+strings.Repeat("0", 64)) }, `{}`, 401, "unauthorized"},
			"unsigned rubbish": {func(r *http.Request) { r.Header.Del("X-Webhook-Signature") }, `{`, 401, "unauthorized"},
			"rubbish":          {nil, `{`, 400, "validation_error"},
			"a form":           {func(r *http.Request) { r.Header.Set("Content-Type", "application/x-www-form-urlencoded") }, `a=1`, 415, "unsupported_media_type"},
			"no type":          {func(r *http.Request) { r.Header.Del("Content-Type") }, `{}`, 415, "unsupported_media_type"},
			"compressed":       {func(r *http.Request) { r.Header.Set("Content-Encoding", "gzip") }, `{}`, 415, "unsupported_media_type"},
			"too long":         {nil, `"` + strings.Repeat("x", 1<<20) + `"`, 413, "payload_too_large"},
		} {
			r := call(c.body)
			if c.change != nil {
				c.change(r)
			}
			res, body := answered(t, s, r)
			require.Equal(t, c.status, res.StatusCode, "%s: %s", name, body)
			require.Contains(t, body, `"error":"`+c.code+`"`, name)
			require.Equal(t, c.status == 401, res.Header.Get("WWW-Authenticate") != "", name)
		}

		full := call(`"` + strings.Repeat("x", 1<<20-2) + `"`)
		res, body = answered(t, s, full)
		require.Equal(t, http.StatusAccepted, res.StatusCode, body)

		for _, method := range []string{http.MethodGet, http.MethodPut, http.MethodDelete} {
			r := call(``)
			r.Method, r.Body = method, nil
			res, _ := answered(t, s, r)
			require.Equal(t, http.StatusMethodNotAllowed, res.StatusCode)
			require.Equal(t, "POST", res.Header.Get("Allow"))
		}
	})
}

// A body of fifty megabytes is refused before it has arrived, with or without a Content-Length.
func TestInboundEndless(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		h := hooked(t, s)
		for _, length := range []int64{50 << 20, -1} {
			r := inboundCall(t, s, h.ID, string(h.SigningSecret), ``)
			r.Body, r.ContentLength = io.NopCloser(io.LimitReader(zeros{}, 50<<20)), length
			res, err := s.HTTP.Do(r)
			require.NoError(t, err)
			require.Equal(t, http.StatusRequestEntityTooLarge, res.StatusCode)
			require.NoError(t, res.Body.Close())
		}
	})
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = '0'
	}
	return len(b), nil
}

// A body that does not arrive is not waited for.
func TestInboundSlow(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		s := apitest.Serve(t, w, func(p apitest.Parts) (http.Handler, error) {
			return rest.New(rest.Options{Engine: p.Engine, Gate: p.Gate, Log: p.Log, BaseURL: p.BaseURL, InboundPatience: time.Millisecond})
		})
		h := hooked(t, s)
		config := s.HTTP.Transport.(*http.Transport).TLSClientConfig.Clone()
		config.NextProtos = []string{"http/1.1"}
		conn, err := tls.Dial("tcp", strings.TrimPrefix(s.URL, "https://"), config)
		require.NoError(t, err)
		defer conn.Close() //nolint:errcheck // the server may have closed it
		_, err = io.WriteString(conn, "POST "+inbound.Path(h.ID)+" HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: "+strconv.Itoa(100)+"\r\n\r\n{\"a\":")
		require.NoError(t, err)
		answer := make([]byte, 12)
		_, err = io.ReadFull(conn, answer)
		require.NoError(t, err)
		require.Equal(t, "HTTP/1.1 400", string(answer))
	})
}

// Answers do not tell unknown, deleted and disabled webhooks apart.
func TestInboundNotFoundAlike(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		ctx := s.World.As(s.World.A, principal.Owner)
		disabled, theirs := hooked(t, s), "whi_01k9ye4ryzf7stj6dqnm8x2v3b"
		deleted := testkit.Run(t, s.World, ctx, inbound.CreateWebhook, inbound.CreateWebhookInput{Name: "Deleted", WorkflowID: disabled.Webhook.WorkflowID})
		testkit.Run(t, s.World, ctx, inbound.UpdateWebhook, inbound.UpdateWebhookInput{ByID: op.ByID{ID: disabled.ID}, Enabled: op.SetTo(false)})
		testkit.Run(t, s.World, ctx, inbound.DeleteWebhook, op.ByID{ID: deleted.ID})
		var first string
		for _, c := range []struct{ id, secret string }{
			{theirs, "x"}, {disabled.ID, string(disabled.SigningSecret)}, {disabled.ID, "x"}, {deleted.ID, string(deleted.SigningSecret)}, {"%00", "x"},
		} {
			res, body := answered(t, s, inboundCall(t, s, c.id, c.secret, `{}`))
			require.Equal(t, http.StatusNotFound, res.StatusCode)
			res.Header.Del("X-Request-Id")
			res.Header.Del("Date")
			var all bytes.Buffer
			require.NoError(t, res.Header.Write(&all))
			if first == "" {
				first = all.String() + body
			}
			require.Equal(t, first, all.String()+body, c.id)
		}
	})
}
