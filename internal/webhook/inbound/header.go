package inbound

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"atrium/ent"
	"atrium/internal/op"
	"atrium/internal/platform/text"
	"atrium/internal/secret"
)

// masked replaces values that the history does not store.
const masked = "***"

// credentialParts are parts of the names of headers that hold credentials.
var credentialParts = []string{
	"signature", "authorization", "cookie", "api-key", "apikey", "token", "secret", "password", "credential",
	"auth-key", "access-key", "subscription-key", "passphrase", "passwd", "bearer", "jwt",
}

// allHeaders among a webhook's headers keeps all but those known as credentials. Webhooks from before there was a list have it.
const allHeaders = "*"

// usual are the headers that a webhook keeps which lists none: what an event is, which one, and how its body is written.
var usual = func() map[string]bool {
	names := map[string]bool{}
	for name := range strings.FieldsSeq(`
		content-type user-agent idempotency-key request-id x-request-id x-correlation-id
		webhook-id webhook-timestamp svix-id svix-timestamp
		ce-id ce-source ce-specversion ce-subject ce-time ce-type
		x-event x-event-id x-event-key x-event-name x-event-type x-delivery-id x-topic x-webhook-event x-webhook-id x-webhook-topic
		x-github-delivery x-github-event x-github-hook-id x-github-hook-installation-target-id x-github-hook-installation-target-type
		x-github-enterprise-host x-github-enterprise-version
		x-gitlab-event x-gitlab-event-uuid x-gitlab-instance x-gitlab-webhook-uuid
		x-gitea-delivery x-gitea-event x-gitea-event-type x-forgejo-delivery x-forgejo-event x-forgejo-event-type x-gogs-delivery x-gogs-event
		x-attempt-number x-hook-uuid x-request-uuid x-atlassian-webhook-identifier x-atlassian-webhook-retry
		x-slack-request-timestamp x-slack-retry-num x-slack-retry-reason x-webhook-subscription
		linear-delivery linear-event sentry-hook-resource sentry-hook-timestamp
		x-shopify-api-version x-shopify-event-id x-shopify-shop-domain x-shopify-topic x-shopify-triggered-at x-shopify-webhook-id
		x-wc-webhook-delivery-id x-wc-webhook-event x-wc-webhook-id x-wc-webhook-resource x-wc-webhook-source x-wc-webhook-topic
		x-zendesk-webhook-id x-zendesk-webhook-invocation-id
		aeg-data-version aeg-delivery-count aeg-event-type aeg-metadata-version aeg-subscription-name
		x-amz-sns-message-id x-amz-sns-message-type x-amz-sns-subscription-arn x-amz-sns-topic-arn
		x-goog-channel-id x-goog-message-number x-goog-resource-id x-goog-resource-state`) {
		names[name] = true
	}
	return names
}()

// isCredential reports whether a header, by its lower-case name, holds a credential.
func isCredential(name string) bool {
	for _, part := range credentialParts {
		if strings.Contains(name, part) {
			return true
		}
	}
	return false
}

// keeps returns which headers of a webhook's calls are kept, by lower-case name. Every other one may be somebody's credential.
func keeps(w *ent.InboundWebhook) func(name string) bool {
	own := proof(w)
	return func(name string) bool {
		switch {
		case isCredential(name) || name == own:
			return false
		case w.Headers == nil:
			return usual[name]
		}
		return slices.Contains(w.Headers, name) || slices.Contains(w.Headers, allHeaders)
	}
}

// headersOf returns the headers of a call by lower-case name: kept for the workflow, without those that the webhook does not keep,
// and shown for the history, in which those are masked.
func headersOf(w *ent.InboundWebhook, h http.Header) (kept, shown map[string]string) {
	kept, shown = make(map[string]string, len(h)), make(map[string]string, len(h))
	keep := keeps(w)
	for name, values := range h {
		name = text.Plain(strings.ToLower(name))
		if !keep(name) {
			shown[name] = masked
			continue
		}
		kept[name] = text.Header(strings.Join(values, ", "))
		shown[name] = kept[name]
	}
	return kept, shown
}

// hideIn masks the company's secrets in headers.
func hideIn(m *secret.Masker, headers map[string]string) {
	for name, value := range headers {
		headers[name] = m.Text(value)
	}
}

// again returns the headers of a stored call that its webhook keeps today.
func again(w *ent.InboundWebhook, before map[string]string) map[string]string {
	kept, keep := make(map[string]string, len(before)), keeps(w)
	for name, value := range before {
		if keep(name) && value != masked {
			kept[name] = value
		}
	}
	return kept
}

// headerName is what RFC 9110 calls a token, or allHeaders.
var headerName = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$")

// checkHeaders reports the names that a webhook cannot keep.
func checkHeaders(refs *op.Refs, names []string) {
	for i, name := range names {
		switch {
		case !headerName.MatchString(name):
			refs.Fault(fmt.Sprintf("headers[%d]", i), "must be the name of a header, or * for all but credentials")
		case isCredential(strings.ToLower(name)):
			refs.Fault(fmt.Sprintf("headers[%d]", i), "must not be a credential, which is never kept")
		}
	}
}

// stored returns names of headers as they are stored: in lower case, each once.
func stored(names []string) []string {
	out := make([]string, 0, len(names))
	for _, name := range names {
		if name = strings.ToLower(name); !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// seen is clip for a body that may hold secrets of the company, of which it keeps none: not the beginning of one that is cut either.
func seen(m *secret.Masker, body []byte, most int) string {
	if len(body) <= most+secretsEnd {
		return clip([]byte(m.Text(string(body))), most)
	}
	out := m.Text(string(body[:most+secretsEnd]))
	return clip([]byte(out), min(most, max(0, len(out)-secretsEnd)))
}

// secretsEnd is how far behind the cut the end of an encoded secret is looked for, in bytes. Of a longer one 32 bytes are hidden anyway.
const secretsEnd = 1 << 10

// clip returns at most the first most bytes of a body as text, cut between two characters.
func clip(body []byte, most int) string {
	if len(body) > most {
		body = body[:most]
		for n := 0; n < utf8.UTFMax && len(body) > 0; n++ {
			if r, size := utf8.DecodeLastRune(body); r != utf8.RuneError || size > 1 {
				break
			}
			body = body[:len(body)-1]
		}
	}
	return text.Cut(string(body), most)
}
