package issuer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

const (
	callTimeout = 5 * time.Second
	maxAnswer   = 1 << 20 // bytes

	metadataMaxAge = time.Hour
	retryAfter     = 10 * time.Second // between two attempts to read what was unavailable or missing
)

// ErrUnavailable is returned when the provider does not answer and nothing cached can be used instead.
var ErrUnavailable = errors.New("issuer: the provider does not answer")

// Remote is a client of an OpenID provider. Safe for concurrent use.
type Remote struct {
	issuer     string
	algorithms []string
	client     *http.Client
	now        func() time.Time
	keys       *keySet

	mu    sync.Mutex
	known *Metadata
	tried time.Time
}

// Metadata is the provider's discovery document.
type Metadata struct {
	Endpoint   oauth2.Endpoint
	EndSession string // empty when it has none
	SendsIss   bool   // its authorization responses contain iss (RFC 9207)
	keysURL    string
	provider   *oidc.Provider
}

// NewRemote returns a client of the provider at issuerURL, without calling it. No algorithms means all asymmetric ones; a nil
// transport means http.DefaultTransport.
func NewRemote(issuerURL string, algorithms []string, transport http.RoundTripper, now func() time.Time) *Remote {
	if len(algorithms) == 0 {
		algorithms = asymmetric
	}
	if transport == nil {
		transport = http.DefaultTransport
	}
	r := &Remote{issuer: issuerURL, algorithms: algorithms, now: now, client: &http.Client{
		Transport: bounded{transport}, Timeout: callTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // a trusted address must not lead to another one
	}}
	r.keys = &keySet{remote: r}
	return r
}

// Issuer returns the provider's issuer URL.
func (r *Remote) Issuer() string { return r.issuer }

// Context returns a context in which oauth2 and go-oidc call the provider with this client's limits of time and size.
func (r *Remote) Context(ctx context.Context) context.Context {
	return oidc.ClientContext(ctx, r.client)
}

// Metadata returns the provider's metadata. They are read again after an hour; when that fails, the last ones stay in use.
// Returns ErrUnavailable when they have never been read.
func (r *Remote) Metadata(ctx context.Context) (*Metadata, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	age := now.Sub(r.tried)
	if r.known != nil && age >= 0 && age < metadataMaxAge {
		return r.known, nil
	}
	if r.known == nil && age >= 0 && age < retryAfter {
		return nil, ErrUnavailable
	}
	m, err := r.discover(ctx)
	switch {
	case err == nil:
		r.known, r.tried = m, now
	case ctx.Err() != nil:
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, err) // the caller's context ended: that says nothing about the provider
	case r.known == nil:
		r.tried = now
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	default:
		r.tried = now.Add(retryAfter - metadataMaxAge)
	}
	return r.known, nil
}

// discover reads the discovery document, whose issuer must be the URL that it was read from.
func (r *Remote) discover(ctx context.Context) (*Metadata, error) {
	p, err := oidc.NewProvider(r.Context(ctx), r.issuer)
	if err != nil {
		return nil, fmt.Errorf("read the metadata of %s: %w", r.issuer, err)
	}
	var more struct {
		Keys       string `json:"jwks_uri"`
		EndSession string `json:"end_session_endpoint"`
		KeepsIss   bool   `json:"authorization_response_iss_parameter_supported"`
	}
	if err := p.Claims(&more); err != nil {
		return nil, fmt.Errorf("read the metadata of %s: %w", r.issuer, err)
	}
	m := &Metadata{Endpoint: p.Endpoint(), EndSession: more.EndSession, SendsIss: more.KeepsIss, keysURL: more.Keys, provider: p}
	addresses := []string{m.Endpoint.AuthURL, m.Endpoint.TokenURL, m.keysURL}
	for _, optional := range []string{p.UserInfoEndpoint(), m.EndSession} {
		if optional != "" {
			addresses = append(addresses, optional)
		}
	}
	for _, address := range addresses {
		if u, err := url.Parse(address); err != nil || !validURL(u.Scheme+"://"+u.Host) {
			return nil, fmt.Errorf("the metadata of %s holds an address that is not https", r.issuer)
		}
	}
	return m, nil
}

// verify checks a token's signature, issuer, times and audience. Returns ErrToken for a token that is not valid, and
// ErrUnavailable when there are no keys to verify with.
func (r *Remote) verify(ctx context.Context, token, audience string) (*oidc.IDToken, error) {
	if _, err := r.keys.fresh(ctx); err != nil {
		return nil, err // go-oidc would hide this error behind the one of a bad signature
	}
	verifier := oidc.NewVerifier(r.issuer, r.keys, &oidc.Config{
		ClientID: audience, SupportedSigningAlgs: r.algorithms, Now: r.now,
	})
	t, err := verifier.Verify(ctx, token)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrToken, err)
	}
	return t, nil
}

// IDToken verifies an ID token that the provider issued to a client for the flow with the given nonce. accessToken was issued
// together with it. Returns ErrToken for any other token, and ErrUnavailable like verify.
func (r *Remote) IDToken(ctx context.Context, raw, clientID, nonce, accessToken string) (*oidc.IDToken, error) {
	t, err := r.verify(ctx, raw, clientID)
	if err != nil {
		return nil, err
	}
	var c struct {
		AuthorizedParty string `json:"azp"`
		TokenUse        string `json:"token_use"`
	}
	if err := t.Claims(&c); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrToken, err)
	}
	switch {
	case nonce == "" || t.Nonce != nonce:
		return nil, fmt.Errorf("%w: it is of another sign-in", ErrToken)
	case c.AuthorizedParty != "" && c.AuthorizedParty != clientID, c.AuthorizedParty == "" && len(t.Audience) > 1:
		return nil, fmt.Errorf("%w: it was given to another client", ErrToken)
	case c.TokenUse != "" && c.TokenUse != "id":
		return nil, fmt.Errorf("%w: it is no ID token", ErrToken)
	case t.Subject == "":
		return nil, fmt.Errorf("%w: it names nobody", ErrToken)
	}
	if t.AccessTokenHash != "" {
		if err := t.VerifyAccessToken(accessToken); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrToken, err)
		}
	}
	return t, nil
}

// bounded is a transport that cuts off answers after maxAnswer bytes. A provider that answers that it cannot answer at present
// is as unreachable as one that does not answer.
type bounded struct{ next http.RoundTripper }

// RoundTrip sends the request and limits the answer. Returns an error for a status of 500 or more, and for 429.
func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := b.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if res.StatusCode >= http.StatusInternalServerError || res.StatusCode == http.StatusTooManyRequests {
		_ = res.Body.Close() // nothing of it is needed
		return nil, fmt.Errorf("the answer is %s", res.Status)
	}
	res.Body = struct {
		io.Reader
		io.Closer
	}{io.LimitReader(res.Body, maxAnswer), res.Body}
	return res, nil
}
