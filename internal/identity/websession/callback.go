package websession

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"golang.org/x/oauth2"

	"atrium/internal/identity"
	"atrium/internal/identity/authn"
	"atrium/internal/identity/issuer"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/locale"
)

// errAnswer means that an answer of the provider belongs to no sign-in that this browser began.
var errAnswer = errors.New("websession: the answer fits no sign-in of this browser")

// callback handles the provider's answer: it redeems the code, verifies the ID token, creates a session with a new cookie and
// redirects the browser to returnTo. The first answer uses up the sign-in that was begun, even if it is not valid.
func (s *Server) callback(w http.ResponseWriter, r *http.Request) {
	params, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		s.invalidAnswer(w, r, err)
		return
	}
	f, rest, ok := takeFlow(s.flows(r), identity.Single(params, "state"))
	if !ok {
		s.invalidAnswer(w, r, errAnswer)
		return
	}
	if err := s.keep(w, rest); err != nil {
		s.layout.Broken(w, r, err)
		return
	}
	ctx := r.Context()
	meta, err := s.provider.Metadata(ctx)
	if err != nil {
		s.unavailable(w, r, err)
		return
	}
	if iss, given := params["iss"]; given && (len(iss) != 1 || iss[0] != s.provider.Issuer()) || !given && meta.SendsIss {
		s.invalidAnswer(w, r, errors.New("the answer is another provider's, or says not whose"))
		return
	}
	if code := identity.Single(params, "error"); code != "" {
		s.errorPage(w, r, http.StatusForbidden, locale.Say("You are not signed in"), locale.Say("The identity provider did not let you in."), errors.New(printable(code)))
		return
	}
	who, idToken, err := s.redeem(ctx, meta, f, identity.Single(params, "code"))
	if err != nil {
		s.refused(w, r, err)
		return
	}
	value, hash := newValue()
	who.TokenHash, who.Replaces = hash, current(r)
	if _, err := s.begin(w, r, who); err != nil {
		s.sessionRefused(w, r, f, err)
		return
	}
	if err := s.keepHint(w, hash, idToken); err != nil {
		s.log.WarnContext(ctx, "an ID token could not be kept for the sign-out", "error", err)
	}
	setCookie(w, authn.SessionCookie, value, 0)
	redirect(w, s.base+f.ReturnTo)
}

// The API's messages that the page of an error shows.
var _ = []locale.Text{locale.Say("You are not an active member of the company."), locale.Say("You were signed out everywhere. Sign in again.")}

// printable limits an untrusted text to what may be logged.
func printable(s string) string {
	s = s[:min(len(s), 100)]
	for _, c := range []byte(s) {
		if c < ' ' || c > '~' {
			return "(not printable)"
		}
	}
	return s
}

// invalidAnswer shows the error page for an answer that belongs to no sign-in begun in this browser: it took too long, or an attacker
// sent the browser here with the attacker's own answer (login CSRF).
func (s *Server) invalidAnswer(w http.ResponseWriter, r *http.Request, cause error) {
	s.errorPage(w, r, http.StatusBadRequest, locale.Say("That sign-in cannot be finished here"),
		locale.Say("It was begun in another browser, was finished already, or took too long."), cause)
}

// redeem exchanges the code for tokens and returns the input for the session, and the ID token.
func (s *Server) redeem(ctx context.Context, meta *issuer.Metadata, f flow, code string) (who createInput, idToken string, err error) {
	if code == "" {
		return who, "", errAnswer
	}
	client := s.client
	client.Endpoint = meta.Endpoint
	tokens, err := client.Exchange(s.provider.Context(ctx), code, oauth2.VerifierOption(f.Verifier))
	if err != nil {
		return who, "", err
	}
	idToken, _ = tokens.Extra("id_token").(string)
	id, err := s.provider.IDToken(ctx, idToken, s.client.ClientID, f.Nonce, tokens.AccessToken)
	if err != nil {
		return who, "", err
	}
	if s.embedded != nil {
		who, err = s.embedded.embeddedSubject(ctx, id, tokens.AccessToken)
	} else {
		who, err = s.issuerSubject(ctx, id, tokens.AccessToken, f)
	}
	return who, idToken, err
}

// refused shows the error page for an answer of the provider that gives no session.
func (s *Server) refused(w http.ResponseWriter, r *http.Request, err error) {
	_, lost := errors.AsType[*url.Error](err)
	_, rejected := errors.AsType[*oauth2.RetrieveError](err)
	switch {
	case errors.Is(err, issuer.ErrNoMember):
		s.errorPage(w, r, http.StatusForbidden, locale.Say("You have no access here"), locale.Say("You are signed in, but you are not an active member of a company here."), err)
	case rejected, errors.Is(err, issuer.ErrToken), errors.Is(err, errAnswer):
		s.invalidAnswer(w, r, err)
	case errors.Is(err, issuer.ErrUnavailable), lost:
		s.unavailable(w, r, err)
	default:
		s.layout.Broken(w, r, err)
	}
}

// sessionRefused shows why a person whom the provider has signed in gets no session. If the proof is older than a sign-out
// everywhere, it starts a new sign-in instead.
func (s *Server) sessionRefused(w http.ResponseWriter, r *http.Request, f flow, err error) {
	switch e := apperr.From(err); {
	case e.Code == apperr.Forbidden && e.Reason == op.ReasonStale:
		redirect(w, s.base+pathLogin+"?"+url.Values{"prompt": {"login"}, "returnTo": {f.ReturnTo}, "company": {f.Company}}.Encode())
	case e.Code == apperr.Forbidden, e.Code == apperr.NotFound:
		s.errorPage(w, r, http.StatusForbidden, locale.Say("You have no access here"), locale.Known(e.Message), err)
	default:
		s.layout.Broken(w, r, err)
	}
}
