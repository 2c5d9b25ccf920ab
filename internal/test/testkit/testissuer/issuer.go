package testissuer

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/stretchr/testify/require"
)

// The issuer's only client, and the audience of its access tokens.
const (
	ClientID     = "web"
	ClientSecret = "web's secret"
	Audience     = "https://atrium.test"
)

// Claims are the claims of a token.
type Claims = map[string]any

// Issuer is a running provider. Safe for concurrent use.
type Issuer struct {
	URL       string // the issuer's identifier and address
	Transport http.RoundTripper

	// Now returns the time that its tokens use.
	Now func() time.Time

	mu       sync.Mutex
	signedIn Claims               // the user at the authorization endpoint
	spoil    func(id Claims)      // changes the claims of an ID token before it is signed
	access   func(Claims) string  // returns the access token for an ID token
	userinfo Claims               // nil: 404
	codes    map[string]codeGiven // by code
	down     bool
	asked    map[string]int // number of calls by path
	keys     []jose.JSONWebKey
	silent   bool // authorization responses carry no iss
}

// codeGiven is an authorization code that has not been redeemed yet.
type codeGiven struct{ redirectURI, challenge, nonce string }

// New starts an issuer that stops with the test.
func New(tb testing.TB) *Issuer {
	tb.Helper()
	i := &Issuer{Now: time.Now, codes: map[string]codeGiven{}, asked: map[string]int{}}
	i.Rotate(tb)
	srv := httptest.NewTLSServer(i.Handler())
	tb.Cleanup(func() {
		srv.Client().CloseIdleConnections()
		srv.Close()
	})
	i.URL, i.Transport = srv.URL, srv.Client().Transport
	return i
}

// Rotate replaces the signing key. The issuer publishes only the new one.
func (i *Issuer) Rotate(tb testing.TB) {
	tb.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(tb, err)
	i.mu.Lock()
	defer i.mu.Unlock()
	i.keys = []jose.JSONWebKey{{Key: key, KeyID: rand.Text(), Algorithm: "ES256", Use: "sig"}}
}

// Key returns the signing key.
func (i *Issuer) Key() jose.JSONWebKey {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.keys[0]
}

// Set changes the settings. No call is served meanwhile.
func (i *Issuer) Set(change func(s *Settings)) {
	i.mu.Lock()
	defer i.mu.Unlock()
	s := Settings{Down: i.down, SignedIn: i.signedIn, Spoil: i.spoil, Access: i.access, Userinfo: i.userinfo, Silent: i.silent}
	change(&s)
	i.down, i.signedIn, i.spoil, i.access, i.userinfo, i.silent = s.Down, s.SignedIn, s.Spoil, s.Access, s.Userinfo, s.Silent
}

// Settings are what a test can change.
type Settings struct {
	Down     bool                   // answers 503 to everything
	SignedIn Claims                 // the user at the authorization endpoint; nil: access_denied
	Spoil    func(id Claims)        // changes the claims of an ID token before it is signed
	Access   func(id Claims) string // returns the access token; nil: the issuer makes one
	Userinfo Claims                 // the answer of userinfo; nil: 404
	Silent   bool                   // no iss in authorization responses
}

// Asked returns how often a path was called.
func (i *Issuer) Asked(path string) int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.asked[path]
}

// Token signs the claims of a valid access token with changes applied; a nil value removes a claim.
func (i *Issuer) Token(tb testing.TB, change Claims) string {
	tb.Helper()
	now := i.Now()
	c := Claims{
		"iss": i.URL, "aud": Audience, "sub": "sub-1", "iat": now.Unix(), "exp": now.Add(5 * time.Minute).Unix(), "azp": ClientID,
	}
	for name, v := range change {
		if c[name] = v; v == nil {
			delete(c, name)
		}
	}
	return Sign(tb, jose.SigningKey{Algorithm: jose.ES256, Key: i.Key()}, "", c)
}

// Sign signs claims with a key. typ is the value of the header typ; empty omits it.
func Sign(tb testing.TB, key jose.SigningKey, typ string, c Claims) string {
	tb.Helper()
	options := &jose.SignerOptions{}
	if typ != "" {
		options = options.WithType(jose.ContentType(typ))
	}
	signer, err := jose.NewSigner(key, options)
	require.NoError(tb, err)
	token, err := jwt.Signed(signer).Claims(c).Serialize()
	require.NoError(tb, err)
	return token
}

// sign is Sign for use in handlers.
func (i *Issuer) sign(c Claims) (string, error) {
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: i.keys[0]}, nil)
	if err != nil {
		return "", fmt.Errorf("sign: %w", err)
	}
	return jwt.Signed(signer).Claims(c).Serialize()
}

// Handler serves the issuer's endpoints at any URL.
func (i *Issuer) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", i.metadata)
	mux.HandleFunc("GET /keys", i.publicKeys)
	mux.HandleFunc("GET /authorize", i.authorize)
	mux.HandleFunc("POST /token", i.token)
	mux.HandleFunc("GET /userinfo", i.who)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		i.mu.Lock()
		defer i.mu.Unlock()
		i.asked[r.URL.Path]++
		if i.down {
			http.Error(w, "down", http.StatusServiceUnavailable)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

func (i *Issuer) metadata(w http.ResponseWriter, _ *http.Request) {
	answer(w, map[string]any{
		"issuer": i.URL, "authorization_endpoint": i.URL + "/authorize", "token_endpoint": i.URL + "/token", "jwks_uri": i.URL + "/keys",
		"userinfo_endpoint": i.URL + "/userinfo", "end_session_endpoint": i.URL + "/bye", "response_types_supported": []string{"code"},
		"subject_types_supported": []string{"public"}, "id_token_signing_alg_values_supported": []string{"ES256"},
		"authorization_response_iss_parameter_supported": !i.silent,
	})
}

func (i *Issuer) publicKeys(w http.ResponseWriter, _ *http.Request) {
	set := jose.JSONWebKeySet{}
	for _, k := range i.keys {
		set.Keys = append(set.Keys, k.Public())
	}
	answer(w, set)
}

func (i *Issuer) who(w http.ResponseWriter, r *http.Request) {
	if i.userinfo == nil || r.Header.Get("Authorization") == "" {
		http.NotFound(w, r)
		return
	}
	answer(w, i.userinfo)
}

func (i *Issuer) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	back := func(params map[string]string) {
		u := q.Get("redirect_uri") + "?state=" + q.Get("state")
		if !i.silent {
			u += "&iss=" + i.URL
		}
		for name, v := range params {
			u += "&" + name + "=" + v
		}
		http.Redirect(w, r, u, http.StatusFound)
	}
	switch {
	case q.Get("client_id") != ClientID && q.Get("client_id") != "atrium-web", q.Get("response_type") != "code", q.Get("code_challenge_method") != "S256":
		http.Error(w, "bad request", http.StatusBadRequest)
	case i.signedIn == nil:
		back(map[string]string{"error": "access_denied"})
	default:
		code := rand.Text()
		i.codes[code] = codeGiven{redirectURI: q.Get("redirect_uri"), challenge: q.Get("code_challenge"), nonce: q.Get("nonce")}
		back(map[string]string{"code": code})
	}
}

func (i *Issuer) token(w http.ResponseWriter, r *http.Request) {
	given, ok := i.codes[r.PostFormValue("code")]
	delete(i.codes, r.PostFormValue("code"))
	client, secret, basic := r.BasicAuth()
	if !basic {
		client, secret = r.PostFormValue("client_id"), r.PostFormValue("client_secret")
	}
	if !ok || given.redirectURI != r.PostFormValue("redirect_uri") || challengeOf(r.PostFormValue("code_verifier")) != given.challenge ||
		client == ClientID && secret != "web%27s+secret" && secret != ClientSecret {
		w.WriteHeader(http.StatusBadRequest)
		answer(w, map[string]string{"error": "invalid_grant"})
		return
	}
	now := i.Now()
	id := Claims{"iss": i.URL, "aud": client, "iat": now.Unix(), "exp": now.Add(time.Hour).Unix(), "nonce": given.nonce}
	maps.Copy(id, i.signedIn)
	var access string
	var err error
	if i.access != nil {
		access = i.access(id)
	} else if access, err = i.sign(Claims{"iss": i.URL, "aud": Audience, "sub": id["sub"], "exp": id["exp"], "iat": id["iat"]}); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	if i.spoil != nil {
		i.spoil(id)
	}
	token, err := i.sign(id)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	answer(w, map[string]any{"access_token": access, "token_type": "Bearer", "expires_in": 300, "id_token": token})
}

// challengeOf returns PKCE's S256 challenge of a verifier.
func challengeOf(verifier string) string {
	sum := sha256.Sum256([]byte(verifier))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}
