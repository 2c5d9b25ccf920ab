package websession

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"golang.org/x/oauth2"
)

// flowCookie holds what was begun in this browser and has not come back. It binds the callback to the browser (login
// CSRF) and is sealed, so that nobody can make one; the prefix keeps other hosts from setting it.
const flowCookie = "__Host-atrium_login"

const (
	flowLife  = 10 * time.Minute
	maxFlows  = 4    // several tabs may sign in at once
	maxCookie = 3800 // bytes; browsers keep 4096 with the name and attributes
)

// flow is one sign-in that was begun.
type flow struct {
	State    string `json:"s"`
	Nonce    string `json:"n"`
	Verifier string `json:"v"` // PKCE's
	ReturnTo string `json:"r"`
	Company  string `json:"c,omitempty"`
	Issuer   string `json:"i"`
	Began    int64  `json:"b"` // Unix seconds
}

// flowSeal binds the cookie's ciphertext to its purpose.
var flowSeal = []byte("websession flow")

func newFlow(issuer, returnTo, company string, now time.Time) flow {
	return flow{
		State: rand.Text(), Nonce: rand.Text(), Verifier: oauth2.GenerateVerifier(), ReturnTo: returnTo, Company: company,
		Issuer: issuer, Began: now.Unix(),
	}
}

// flows returns what was begun in the browser, the latest last. A cookie that came twice, is too old or was not made here
// holds nothing.
func (s *Server) flows(r *http.Request) []flow {
	cookies := r.CookiesNamed(flowCookie)
	if len(cookies) != 1 {
		return nil
	}
	sealed, err := base64.RawURLEncoding.DecodeString(cookies[0].Value)
	if err != nil {
		return nil
	}
	plain, err := s.engine.Sealer.Unseal(sealed, flowSeal)
	if err != nil {
		return nil
	}
	var all []flow
	if err := json.Unmarshal(plain, &all); err != nil {
		return nil
	}
	now := s.now().Unix()
	live := all[:0]
	for _, f := range all {
		if age := now - f.Began; age >= 0 && age < int64(flowLife/time.Second) && f.Issuer == s.provider.Issuer() {
			live = append(live, f)
		}
	}
	return live
}

// keep writes flows into the browser's cookie, without the oldest when they are too many or too long.
func (s *Server) keep(w http.ResponseWriter, all []flow) error {
	if len(all) > maxFlows {
		all = all[len(all)-maxFlows:]
	}
	for ; len(all) > 0; all = all[1:] {
		plain, err := json.Marshal(all)
		if err != nil {
			return fmt.Errorf("keep the sign-in: %w", err)
		}
		sealed, err := s.engine.Sealer.Seal(plain, flowSeal)
		if err != nil {
			return fmt.Errorf("keep the sign-in: %w", err)
		}
		if value := base64.RawURLEncoding.EncodeToString(sealed); len(value) <= maxCookie || len(all) == 1 {
			setCookie(w, flowCookie, value, int(flowLife/time.Second))
			return nil
		}
	}
	setCookie(w, flowCookie, "", -1)
	return nil
}

// takeFlow returns the flow with the state, and takes it out of the others.
func takeFlow(all []flow, state string) (f flow, rest []flow, ok bool) {
	for i, f := range all {
		if state != "" && subtle.ConstantTimeCompare([]byte(f.State), []byte(state)) == 1 {
			return f, append(append([]flow{}, all[:i]...), all[i+1:]...), true
		}
	}
	return flow{}, all, false
}

func (s *Server) now() time.Time { return s.engine.Store.Clock().Now() }
