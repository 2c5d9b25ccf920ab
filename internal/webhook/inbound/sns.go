package inbound

import (
	"context"
	"crypto"
	"crypto/rsa"
	"crypto/sha1" // SNS signs with it in its version 1
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"atrium/ent"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/egress"
	"atrium/internal/platform/ratelimit"
	"atrium/internal/platform/strictjson"
)

// Amazon SNS signs its messages with a certificate that the message names. All topics of all its customers share the certificates: so a
// webhook takes the messages of one topic, which its settings name.

// Outside makes guarded calls: *egress.Client.
type Outside interface {
	Do(ctx context.Context, req *http.Request, l egress.Limits) (egress.Answer, error)
}

// The bounds of the calls to SNS. fetchLimit is for the certificates that calls of one webhook make us fetch.
var (
	snsLimits  = egress.Limits{Timeout: 5 * time.Second, Body: 16 << 10}
	fetchLimit = ratelimit.Limit{PerMinute: 10, PerDay: 1_000}
)

const (
	certKept  = 24 * time.Hour
	mostCerts = 64
	leastRSA  = 2048 // bits
)

// snsHost are the hosts of SNS.
var snsHost = regexp.MustCompile(`^sns\.[a-z0-9-]{1,40}\.amazonaws\.com(\.cn)?$`)

// signedParts are the parts of messages of SNS that are signed, in the order in which they are. Parts that a message lacks are left out.
var signedParts = map[string][]string{
	"Notification":             {"Message", "MessageId", "Subject", "Timestamp", "TopicArn", "Type"},
	"SubscriptionConfirmation": {"Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"},
	"UnsubscribeConfirmation":  {"Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"},
}

// certificate is the key of a certificate that was fetched.
type certificate struct {
	key   *rsa.PublicKey
	until time.Time
}

// topics verifies the messages of SNS. Safe for concurrent use.
type topics struct {
	outside Outside // nil: nothing can be fetched
	limiter ratelimit.Limiter
	certs   *lru.Cache[string, certificate]
}

func newTopics(outside Outside, limiter ratelimit.Limiter) topics {
	certs, _ := lru.New[string, certificate](mostCerts) // the size is not 0
	return topics{outside, limiter, certs}
}

// message returns the texts of a message; nil for what is none.
func message(body []byte) map[string]string {
	v, err := strictjson.Decode(body)
	m, _ := v.(map[string]any)
	if err != nil || m == nil {
		return nil
	}
	out := make(map[string]string, len(m))
	for name, v := range m {
		if text, ok := v.(string); ok {
			out[name] = text
		}
	}
	return out
}

// verified reports whether a body is a message of the webhook's topic that SNS has signed. It fetches the certificate only for a message
// that says it is. Returns unavailable when the certificate cannot be fetched: SNS sends the message again.
func (t topics) verified(ctx context.Context, w *ent.InboundWebhook, body []byte, now time.Time) (bool, error) {
	m := message(body)
	parts := signedParts[m["Type"]]
	topic := op.Or(settingsOf(w).TopicARN, "")
	signature, err := base64.StdEncoding.DecodeString(m["Signature"])
	if parts == nil || topic == "" || m["TopicArn"] != topic || err != nil || len(signature) == 0 || !ofSNS(m["SigningCertURL"]) {
		return false, nil
	}
	key, err := t.key(ctx, w, m["SigningCertURL"], now)
	if err != nil || key == nil {
		return false, err
	}
	var text strings.Builder
	for _, part := range parts {
		if value, ok := m[part]; ok {
			text.WriteString(part + "\n" + value + "\n")
		}
	}
	hash, sum := crypto.SHA1, []byte(nil)
	switch m["SignatureVersion"] {
	case "1":
		first := sha1.Sum([]byte(text.String())) // what SNS signs in its version 1
		sum = first[:]
	case "2":
		second := sha256.Sum256([]byte(text.String()))
		hash, sum = crypto.SHA256, second[:]
	default:
		return false, nil
	}
	return rsa.VerifyPKCS1v15(key, hash, sum, signature) == nil, nil
}

// ofSNS reports whether an address is one of SNS itself.
func ofSNS(address string) bool {
	u, err := url.Parse(address)
	return err == nil && u.Scheme == "https" && u.User == nil && u.Fragment == "" && snsHost.MatchString(u.Host)
}

// key returns the key of a certificate of SNS, which is kept for a day; nil for what is no valid certificate.
func (t topics) key(ctx context.Context, w *ent.InboundWebhook, address string, now time.Time) (*rsa.PublicKey, error) {
	if c, ok := t.certs.Get(address); ok && now.Before(c.until) {
		return c.key, nil
	}
	res, err := t.limiter.Take(ctx, "sns/"+w.ID, fetchLimit, now)
	if err == nil && !res.Allowed {
		return nil, nil // whoever makes up addresses is refused as for a wrong signature
	}
	raw, err := t.get(ctx, address)
	if err != nil {
		return nil, apperr.Wrap(err, apperr.Unavailable, "The certificate of Amazon SNS cannot be fetched at the moment. Try again shortly.")
	}
	c := certificate{until: now.Add(certKept)}
	if block, _ := pem.Decode(raw); block != nil {
		if cert, err := x509.ParseCertificate(block.Bytes); err == nil && now.After(cert.NotBefore) && now.Before(cert.NotAfter) {
			if key, ok := cert.PublicKey.(*rsa.PublicKey); ok && key.N.BitLen() >= leastRSA {
				c.key = key
			}
			if cert.NotAfter.Before(c.until) {
				c.until = cert.NotAfter
			}
		}
	}
	t.certs.Add(address, c)
	return c.key, nil
}

// get fetches an address of SNS.
func (t topics) get(ctx context.Context, address string) ([]byte, error) {
	if t.outside == nil {
		return nil, errors.New("there is no way outside")
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, fmt.Errorf("fetch from SNS: %w", err)
	}
	a, err := t.outside.Do(ctx, req, snsLimits)
	switch {
	case err != nil:
		return nil, fmt.Errorf("fetch from SNS: %w", err)
	case a.Status != http.StatusOK || a.Truncated:
		return nil, fmt.Errorf("fetch from SNS: the answer has the status %d", a.Status)
	}
	return a.Body, nil
}

// confirm subscribes the webhook to its topic, as a message of SNS asks, and says what became of it.
func (t topics) confirm(ctx context.Context, body []byte) string {
	address := message(body)["SubscribeURL"]
	if !ofSNS(address) {
		return "Amazon SNS asks for a subscription, with an address that is not its own."
	}
	if _, err := t.get(ctx, address); err != nil {
		return "The subscription of Amazon SNS could not be confirmed. Have SNS ask again."
	}
	return "The subscription of Amazon SNS was confirmed."
}

// unwrap returns what a message of SNS says: its signed parts, without what confirms a subscription. A Message that is itself JSON is
// read, so that expressions reach into it.
func unwrap(v any) (json.RawMessage, any, bool) {
	m, _ := v.(map[string]any)
	kind, _ := m["Type"].(string)
	if signedParts[kind] == nil {
		return nil, nil, false
	}
	out := map[string]any{}
	for _, part := range []string{"Type", "MessageId", "TopicArn", "Subject", "Message", "Timestamp"} {
		if value, ok := m[part]; ok {
			out[part] = value
		}
	}
	if text, ok := out["Message"].(string); ok && strings.HasPrefix(strings.TrimSpace(text), "{") {
		if inner, err := strictjson.Decode([]byte(text)); err == nil {
			out["Message"] = inner
		}
	}
	raw, err := json.Marshal(out)
	return raw, out, err == nil
}
