package main

import (
	"encoding/json"
	"net/http"
	"time"

	"atrium/internal/gate"
	"atrium/internal/identity/pages"
	"atrium/internal/platform/locale"
)

// The limits of anonymous calls at the identity provider, by IP address. They limit the memory, rows and work that one address
// can claim, and leave room for an office of thousands that signs in from one address on a Monday morning. Attempts at passwords
// and codes, and mails, have limits of their own (package throttle).
var (
	// beginnings limits authorization requests. Each makes a row, which is kept for an hour at most.
	beginnings = gate.Allowance{Name: "authorize", PerMinute: 600, PerDay: 100_000}
	// pageVisits limits requests for pages that need no sign-in, and forms that are posted to them.
	pageVisits = gate.Allowance{Name: "pages", PerMinute: 1_800, PerDay: 300_000}
	// webSignIns limits calls of /login, of its callback, which asks the provider for tokens, and of the logout endpoints.
	webSignIns = gate.Allowance{Name: "login", PerMinute: 600, PerDay: 100_000}
	// badCalls limits calls of programs that are refused: wrong secrets, codes and tokens.
	badCalls = gate.Allowance{Name: "programs", PerMinute: 1_200, PerDay: 100_000}
)

// guard applies the limits to the pages and endpoints that take anonymous calls.
func (h *signInHandlers) guard(s *gate.Anonymous, layout *pages.Layout) {
	page := func(w http.ResponseWriter, r *http.Request, _ time.Duration) {
		layout.Message(w, r, http.StatusTooManyRequests, locale.Say("One moment, please"),
			locale.Say("There are too many calls from your network at the moment. Go back and try again in a minute."), pages.Link{})
	}
	h.session = s.Every(webSignIns, h.session, page)
	if h.provider == nil {
		return
	}
	begins, ends := s.Every(beginnings, h.provider, page), s.Every(webSignIns, h.provider, page)
	mux := http.NewServeMux()
	mux.Handle("/oauth2/authorize", begins)
	mux.Handle("/oauth2/end-session", ends)
	mux.Handle("/", s.Failures(badCalls, h.provider, tooManyOfProgram))
	h.provider = mux
	h.signIn = s.Every(pageVisits, h.signIn, page)
	h.account = s.Every(pageVisits, h.account, page)
}

// tooManyOfProgram is the answer to a program, as an error of RFC 6749.
func tooManyOfProgram(w http.ResponseWriter, _ *http.Request, _ time.Duration) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusTooManyRequests)
	_ = json.NewEncoder(w).Encode(map[string]string{ // an error means that the connection is closed
		"error": "temporarily_unavailable", "error_description": "too many refused calls from this address: try again later",
	})
}
