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

// flowCookie holds the sign-ins that this browser has begun and not finished. It binds the callback to the browser (login CSRF)
// and is sealed, so that nobody can forge it. The prefix keeps other hosts from setting it.
const flowCookie = "__Host-atrium_login"

const (
	flowLife  = 10 * time.Minute
	maxFlows  = 4    // several tabs may sign in at once
	maxCookie = 3800 // bytes; browsers store 4096 including name and attributes
)

// flow is a sign-in that was begun.
type flow struct {
	State    string `json:"s"`
	Nonce    string `json:"n"`
	Verifier string `json:"v"` // of PKCE
	ReturnTo string `json:"r"`
	Company  string `json:"c,omitempty"`
	Issuer   string `json:"i"`
	Began    int64  `json:"b"` // Unix seconds
}

// flowSeal is the associated data of the sealed cookie.
var flowSeal = []byte("websession flow")

func newFlow(issuer, returnTo, company string, now time.Time) flow {
	return flow{
		State: rand.Text(), Nonce: rand.Text(), Verifier: oauth2.GenerateVerifier(), ReturnTo: returnTo, Company: company,
		Issuer: issuer, Began: now.Unix(),
	}
}

// flows returns the sign-ins that were begun in the browser, newest last. It returns none if the cookie occurs twice or was not
// made here, and leaves out those that are too old.
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

// keep writes flows into the browser's cookie. It drops the oldest ones when there are too many or the cookie is too long.
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

// takeFlow returns the flow with the given state, and the other flows.
func takeFlow(all []flow, state string) (f flow, rest []flow, ok bool) {
	for i, f := range all {
		if state != "" && subtle.ConstantTimeCompare([]byte(f.State), []byte(state)) == 1 {
			return f, append(append([]flow{}, all[:i]...), all[i+1:]...), true
		}
	}
	return flow{}, all, false
}

func (s *Server) now() time.Time { return s.engine.Store.Clock().Now() }
