package inbound_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"atrium/internal/webhook/inbound"
	"atrium/internal/webhook/preset"
)

// vector is a signed call that a vendor has published, or that the vendor's own library signs.
type vector struct {
	style, secret, body string
	header              map[string]string
	at                  int64 // 0 for a style without a time
}

var vectors = map[string]vector{
	"hex": { // openssl dgst -sha256 -hmac
		style: "hex", secret: "whsec_c2VjcmV0", body: `{"a":1}`,
		header: map[string]string{"X-Webhook-Signature": "sha256=" + hexMAC("whsec_c2VjcmV0", `{"a":1}`)},
	},
	"GitHub's documentation": {
		style: "github", secret: "It's a Secret to Everybody", body: "Hello, World!",
		header: map[string]string{"X-Hub-Signature-256": "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"},
	},
	"Slack's documentation": {
		style: "slack", secret: "8f742231b10e8888abcd99yyyzzz85a5", at: 1531420618,
		body: "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar" +
			"&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=" +
			"&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN" +
			"&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c",
		header: map[string]string{
			"X-Slack-Request-Timestamp": "1531420618", "X-Slack-Signature": "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503",
		},
	},
	"Standard Webhooks' test": {
		style: "standard", secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", at: 1614265330, body: `{"test": 2432232314}`,
		header: map[string]string{
			"Webhook-Id": "msg_p5jXN8AQM9LWM0D4loKWxJek", "Webhook-Timestamp": "1614265330",
			"Webhook-Signature": "v1,other v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
		},
	},
	"Stripe's library": { // stripe-go's webhook.ComputeSignature
		style: "stripe", secret: "whsec_4cd6edf6a3b8e7b1c2d9", at: 1760000000, body: `{"id":"evt_1NG8Du2eZvKYlo2CUI79vXWy","type":"invoice.paid"}`,
		header: map[string]string{"Stripe-Signature": "t=1760000000,v1=41dc3994f3bbfa84f8ff6ee5abc0530d747a97f60f8ebab59e76bd27e3ac3ec8,v0=00"},
	},
	"PagerDuty's library": { // go-pagerduty's webhookv3.VerifySignature accepts it
		style: "pagerduty", secret: "EqDoAgXmqnwtE5GJlYSRcZ6FZzqkKG5K",
		body:   `{"event":{"id":"01DEN1HNLBC1VITK192ETJ1MPJ","event_type":"incident.priority_updated"}}`,
		header: map[string]string{"X-Pagerduty-Signature": "v1=" + strings.Repeat("00", 32) + ",v1=27c7f709b68d794adb88592a59a8a308fc41303afb16ba72885e65c34b095844"},
	},
}

func hexMAC(secret, body string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(body))
	return hex.EncodeToString(mac.Sum(nil))
}

func (v vector) headers() http.Header {
	h := http.Header{}
	for name, value := range v.header {
		h.Set(name, value)
	}
	return h
}

func (v vector) now() time.Time { return time.Unix(v.at, 0) }

func TestVendorsSignatures(t *testing.T) {
	t.Parallel()
	for name, v := range vectors {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			body := []byte(v.body)
			require.True(t, inbound.Verified(v.style, v.secret, v.headers(), body, v.now()))
			require.False(t, inbound.Verified(v.style, v.secret+"x", v.headers(), body, v.now()), "another secret")
			require.False(t, inbound.Verified(v.style, v.secret, v.headers(), append(body, ' '), v.now()), "another body")
			require.False(t, inbound.Verified(v.style, v.secret, http.Header{}, body, v.now()), "no signature")
			for header := range v.header {
				h := v.headers()
				h.Del(header)
				require.False(t, inbound.Verified(v.style, v.secret, h, body, v.now()), "without %s", header)
				h = v.headers()
				h.Add(header, h.Get(header))
				require.False(t, inbound.Verified(v.style, v.secret, h, body, v.now()), "two of %s", header)
			}
			for other := range vectors {
				if vectors[other].style != v.style {
					require.False(t, inbound.Verified(vectors[other].style, v.secret, v.headers(), body, v.now()), "as %s", other)
				}
			}
			if v.at == 0 {
				return
			}
			for away, want := range map[time.Duration]bool{5 * time.Minute: true, -5 * time.Minute: true, 301 * time.Second: false, -301 * time.Second: false, 24 * time.Hour: false} {
				require.Equal(t, want, inbound.Verified(v.style, v.secret, v.headers(), body, v.now().Add(away)), "%s away", away)
			}
		})
	}
}

// A call that Standard Webhooks' own library signs is verified; one that differs in any byte is not.
func TestStandardLibrarySigns(t *testing.T) {
	t.Parallel()
	const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	wh, err := standardwebhooks.NewWebhook(secret)
	require.NoError(t, err)
	rapid.Check(t, func(rt *rapid.T) {
		body := rapid.SliceOfN(rapid.Byte(), 0, 200).Draw(rt, "body")
		at := time.Unix(rapid.Int64Range(1, 1<<33).Draw(rt, "at"), 0)
		id := rapid.StringMatching(`[A-Za-z0-9_.-]{1,40}`).Draw(rt, "id")
		signature, err := wh.Sign(id, at, body)
		if err != nil {
			rt.Fatal(err)
		}
		h := http.Header{"Webhook-Id": {id}, "Webhook-Timestamp": {strconv.FormatInt(at.Unix(), 10)}, "Webhook-Signature": {signature}}
		if !inbound.Verified("standard", secret, h, body, at) {
			rt.Fatal("what the library signs is refused")
		}
		for _, name := range []string{"Webhook-Id", "Webhook-Timestamp", "Webhook-Signature"} {
			changed := h.Clone()
			value := []byte(changed.Get(name))
			i := rapid.IntRange(0, len(value)-1).Draw(rt, "place")
			if name == "Webhook-Signature" {
				i = min(i, len(value)-3) // the last base64 digit holds unused bits
			}
			value[i] ^= 1
			changed.Set(name, string(value))
			if inbound.Verified("standard", secret, changed, body, at) {
				rt.Fatalf("a changed %s is taken", name)
			}
		}
	})
}

// Headers that no secret signed never verify, whatever they contain.
func FuzzVerified(f *testing.F) {
	for _, v := range vectors {
		for name, value := range v.header {
			f.Add(v.style, name, value, []byte(v.body))
		}
	}
	f.Fuzz(func(t *testing.T, style, name, value string, body []byte) {
		if _, ok := map[string]bool{"hex": true, "standard": true, "github": true, "stripe": true, "slack": true, "pagerduty": true}[style]; !ok {
			return
		}
		h := http.Header{}
		h.Set(name, value)
		for _, also := range []string{"Webhook-Id", "Webhook-Timestamp", "X-Slack-Request-Timestamp"} {
			if h.Get(also) == "" {
				h.Set(also, "1")
			}
		}
		require.False(t, inbound.Verified(style, "a secret that nothing here was signed with", h, body, time.Unix(1, 0)))
	})
}

// proofs are calls of the styles that a webhook's settings shape.
var proofs = []struct {
	name, style, secret string
	with                preset.Signature
	header, value       string
	wrong               []string
}{
	{"hex in any header", "header", "a secret of ours", preset.Signature{Header: new("X-Sig"), Prefix: new("sha256=")}, "X-Sig", "sha256=" + hexMAC("a secret of ours", `{"a":1}`), []string{hexMAC("a secret of ours", `{"a":1}`), "sha1=00", ""}},
	{"base64 without a prefix", "header", "a secret of ours", preset.Signature{Header: new("X-Sig"), Encoding: new("base64")}, "X-Sig", base64MAC("a secret of ours", `{"a":1}`), []string{hexMAC("a secret of ours", `{"a":1}`)}},
	{"a bearer token", "bearer", "a secret of ours", preset.Signature{}, "Authorization", "Bearer a secret of ours", []string{"Basic a secret of ours", "a secret of ours", "Bearer ", "Bearer a secret of our", "Bearer a secret of ours "}},
	{"a scheme of any case", "bearer", "a secret of ours", preset.Signature{}, "Authorization", "bearer a secret of ours", nil},
	{"a token of GitLab", "bearer", "a secret of ours", preset.Signature{Header: new("X-Gitlab-Token")}, "X-Gitlab-Token", "a secret of ours", []string{"Bearer a secret of ours", ""}},
	{"basic authentication", "basic", "a secret of ours", preset.Signature{Username: new("robot")}, "Authorization", "Basic " + base64.StdEncoding.EncodeToString([]byte("robot:a secret of ours")), []string{"Basic " + base64.StdEncoding.EncodeToString([]byte("robo:ta secret of ours")), "Basic ", "Basic !"}},
}

// A webhook's settings say where the proof stands and how it is written.
func TestSettingsShapeTheProof(t *testing.T) {
	t.Parallel()
	for _, p := range proofs {
		h := http.Header{}
		h.Set(p.header, p.value)
		verified := func(secret string, h http.Header) bool {
			return inbound.VerifiedWith(p.style, p.with, secret, h, []byte(`{"a":1}`), time.Now())
		}
		require.True(t, verified(p.secret, h), p.name)
		require.False(t, verified(p.secret+"x", h), "%s: another secret", p.name)
		require.False(t, verified(p.secret, http.Header{}), "%s: nothing", p.name)
		for _, value := range p.wrong {
			h.Set(p.header, value)
			require.False(t, verified(p.secret, h), "%s: %s", p.name, value)
		}
		h[http.CanonicalHeaderKey(p.header)] = []string{p.value, p.value}
		require.False(t, verified(p.secret, h), "%s: twice", p.name)
	}
	require.False(t, inbound.VerifiedWith("sns", preset.Signature{}, "a secret of ours", http.Header{}, nil, time.Now()), "its messages have certificates")
}

func base64MAC(secret, body string) string {
	raw, _ := hex.DecodeString(hexMAC(secret, body))
	return base64.StdEncoding.EncodeToString(raw)
}
