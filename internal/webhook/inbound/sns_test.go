package inbound_test

import (
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha1" // SNS signs with it in its version 1
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"log/slog"
	"math/big"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/internal/platform/apperr"
	"atrium/internal/platform/egress"
	"atrium/internal/platform/ratelimit"
	"atrium/internal/test/testkit"
	"atrium/internal/webhook/inbound"
	"atrium/internal/webhook/preset"
)

const (
	topic   = "arn:aws:sns:eu-central-1:123456789012:alarms"
	certURL = "https://sns.eu-central-1.amazonaws.com/SimpleNotificationService-01d088a6f77103d0fe307c0069e40ed6.pem"
)

// amazon is SNS: it signs, and answers what is fetched of it.
type amazon struct {
	key *rsa.PrivateKey
	pem []byte

	mu      sync.Mutex
	fetched []string
	down    bool
}

func newAmazon(t *testing.T) *amazon {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	cert := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "sns.amazonaws.com"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour)}
	raw, err := x509.CreateCertificate(rand.Reader, cert, cert, &key.PublicKey, key)
	require.NoError(t, err)
	return &amazon{key: key, pem: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw})}
}

// Do answers what is fetched.
func (a *amazon) Do(_ context.Context, req *http.Request, _ egress.Limits) (egress.Answer, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.fetched = append(a.fetched, req.URL.String())
	if a.down {
		return egress.Answer{}, errors.New("the network is down")
	}
	return egress.Answer{Status: http.StatusOK, Body: a.pem}, nil
}

func (a *amazon) times() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.fetched)
}

// says returns a message as SNS sends it, signed after change has changed it; forge changes it after that.
func (a *amazon) says(t *testing.T, h *hook, change, forge func(map[string]string)) inbound.Call {
	t.Helper()
	m := map[string]string{
		"Type": "Notification", "MessageId": "22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324", "TopicArn": topic, "Subject": "ALARM: \"Disk\"", "SignatureVersion": "2",
		"Message": `{"AlarmName":"Disk","NewStateValue":"ALARM"}`, "Timestamp": "2026-11-30T08:00:00.000Z", "SigningCertURL": certURL,
		"UnsubscribeURL": "https://sns.eu-central-1.amazonaws.com/?Action=Unsubscribe",
	}
	if change != nil {
		change(m)
	}
	parts := []string{"Message", "MessageId", "Subject", "Timestamp", "TopicArn", "Type"}
	if m["Type"] != "Notification" {
		parts = []string{"Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"}
	}
	text := ""
	for _, part := range parts {
		if value, ok := m[part]; ok {
			text += part + "\n" + value + "\n"
		}
	}
	hash, sum := crypto.SHA256, sha256.Sum256([]byte(text))
	digest := sum[:]
	if m["SignatureVersion"] == "1" {
		first := sha1.Sum([]byte(text)) // as SNS does
		hash, digest = crypto.SHA1, first[:]
	}
	signature, err := rsa.SignPKCS1v15(rand.Reader, a.key, hash, digest)
	require.NoError(t, err)
	m["Signature"] = base64.StdEncoding.EncodeToString(signature)
	if forge != nil {
		forge(m)
	}
	raw, err := json.Marshal(m)
	require.NoError(t, err)
	return inbound.Call{WebhookID: h.issued.ID, Body: raw, Header: http.Header{"Content-Type": {"text/plain; charset=UTF-8"}, "X-Amz-Sns-Message-Type": {m["Type"]}}}
}

// The messages of one topic are taken that SNS has signed, in both of its versions. Nothing else is fetched but certificates and
// subscriptions of SNS itself, and a certificate once.
func TestMessagesOfSNS(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		a := newAmazon(t)
		h := open(t, w, func(h *hook, in *inbound.CreateWebhookInput) {
			in.SignatureStyle, in.Signature, in.When = new("sns"), &preset.Signature{TopicARN: new(topic)}, new(`webhook.body.Message.NewStateValue == "ALARM"`)
			var err error
			h.door, err = inbound.NewDoor(h.Engine, ratelimit.NewMemory(), a, slog.New(slog.DiscardHandler))
			require.NoError(t, err)
		})
		for name, forge := range map[string]func(map[string]string){
			"a changed message": func(m map[string]string) { m["Message"] = "{}" },
			"another topic":     func(m map[string]string) { m["TopicArn"] = topic + "2" },
			"no signature":      func(m map[string]string) { delete(m, "Signature") },
			"another host": func(m map[string]string) {
				m["SigningCertURL"] = "https://sns.eu-central-1.amazonaws.com.evil.test/x.pem"
			},
			"a host of a customer":  func(m map[string]string) { m["SigningCertURL"] = "https://bucket.s3.amazonaws.com/x.pem" },
			"another port":          func(m map[string]string) { m["SigningCertURL"] = "https://sns.eu-central-1.amazonaws.com:8443/x.pem" },
			"no https":              func(m map[string]string) { m["SigningCertURL"] = "http://sns.eu-central-1.amazonaws.com/x.pem" },
			"a name before":         func(m map[string]string) { m["SigningCertURL"] = "https://x@sns.eu-central-1.amazonaws.com/x.pem" },
			"a version of its own":  func(m map[string]string) { m["SignatureVersion"] = "3" },
			"the version is signed": func(m map[string]string) { m["SignatureVersion"] = "1" },
		} {
			before := a.times()
			require.Equal(t, apperr.Unauthorized, apperr.CodeOf(h.refused(a.says(t, h, nil, forge))), name)
			require.LessOrEqual(t, a.times()-before, 1, name)
		}
		a.mu.Lock()
		for _, address := range a.fetched {
			require.Equal(t, certURL, address)
		}
		require.Len(t, a.fetched, 1, "a certificate is kept")
		a.fetched = nil
		a.mu.Unlock()

		extra := func(m map[string]string) { m["message"], m["extra"] = "not signed", "not signed" }
		first := h.take(a.says(t, h, nil, extra))
		e, err := h.Store.Reader().Execution.Get(h.ctx, first.ExecutionID)
		require.NoError(t, err)
		require.Contains(t, string(e.Webhook), `"Message":{"AlarmName":"Disk","NewStateValue":"ALARM"}`)
		for _, never := range []string{"not signed", "Signature", "Unsubscribe"} {
			require.NotContains(t, string(e.Webhook), never)
			require.NotContains(t, h.calls()[0].Body, never)
		}
		require.Equal(t, first, h.take(a.says(t, h, func(m map[string]string) { m["SignatureVersion"] = "1" }, nil)), "the same message again")
		require.Equal(t, "The condition is not met.", h.ignored(a.says(t, h, func(m map[string]string) {
			m["MessageId"], m["Message"] = "another", `{"NewStateValue":"OK"}`
		}, nil)))
		h.subscribes(t, a)
	})
}

// subscribes has SNS ask for a subscription, which is confirmed by fetching the address that it names.
func (h *hook) subscribes(t *testing.T, a *amazon) {
	t.Helper()
	const address = "https://sns.eu-central-1.amazonaws.com/?Action=ConfirmSubscription&Token=abc"
	asks := func(address string) inbound.Call {
		return a.says(t, h, func(m map[string]string) {
			m["Type"], m["Token"], m["SubscribeURL"] = "SubscriptionConfirmation", "abc", address
			delete(m, "Subject")
		}, nil)
	}
	require.Equal(t, "The subscription of Amazon SNS was confirmed.", h.ignored(asks(address)))
	require.Equal(t, []string{address}, a.fetched)
	require.Contains(t, h.ignored(asks("https://169.254.169.254/latest")), "an address that is not its own")
	require.Equal(t, 1, a.times())
	calls := h.calls()
	require.NotContains(t, calls[len(calls)-1].Body, "abc", "what confirms a subscription is not kept")
}

// When the certificate cannot be fetched, the call is unavailable, and SNS sends it again.
func TestSNSIsUnavailable(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		a := newAmazon(t)
		a.down = true
		h := open(t, w, func(h *hook, in *inbound.CreateWebhookInput) {
			in.SignatureStyle, in.Signature = new("sns"), &preset.Signature{TopicARN: new(topic)}
			var err error
			h.door, err = inbound.NewDoor(h.Engine, ratelimit.NewMemory(), a, slog.New(slog.DiscardHandler))
			require.NoError(t, err)
		})
		require.Equal(t, apperr.Unavailable, apperr.CodeOf(h.refused(a.says(t, h, nil, nil))))
		for range 20 {
			h.refused(a.says(t, h, nil, nil))
		}
		require.LessOrEqual(t, a.times(), 11, "no more than its share is fetched")
	})
}
