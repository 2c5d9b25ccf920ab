package websession

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"atrium/ent"
	"atrium/ent/session"
	"atrium/internal/identity/authn"
	"atrium/internal/identity/pages"
	"atrium/internal/identity/provider"
	"atrium/internal/op"
	"atrium/internal/platform/locale"
	"atrium/internal/platform/principal"
)

// askLogout shows the sign-out form. A link alone never signs out.
func (s *Server) askLogout(w http.ResponseWriter, r *http.Request) {
	s.layout.Render(w, r, http.StatusOK, pages.Page{
		Body: "framed", Title: locale.Say("Sign out?"), Leads: pages.LeadsTo(s.endSession(r.Context())),
		Data: provider.Page{Action: pathLogout},
	})
}

// endSession returns the end-session endpoint of another issuer; empty when it has none or its metadata are unavailable.
func (s *Server) endSession(ctx context.Context) string {
	if s.embedded != nil {
		return ""
	}
	meta, err := s.provider.Metadata(ctx)
	if err != nil {
		return ""
	}
	return meta.EndSession
}

// logout ends the session and the sign-in that it came from, deletes the cookie and redirects to the start page; with another
// issuer it redirects by way of the issuer's end-session endpoint. It accepts only requests from a page of this origin. A
// person without a session is redirected the same way.
func (s *Server) logout(w http.ResponseWriter, r *http.Request) {
	if err := s.ownRequest(r); err != nil {
		s.layout.Message(w, r, http.StatusForbidden, locale.Say("You are still signed in"), locale.Say("Something on another site tried to sign you out."),
			pages.Link{Text: locale.Say("Sign out"), To: pathLogout})
		return
	}
	if err := s.end(w, r); err != nil {
		s.layout.Broken(w, r, err)
		return
	}
	setCookie(w, authn.SessionCookie, "", -1)
	dropHint(w)
	home := s.base + "/"
	if to := s.endSession(r.Context()); to != "" {
		u, err := url.Parse(to)
		if err == nil {
			q := u.Query()
			q.Set("client_id", s.client.ClientID)
			q.Set("post_logout_redirect_uri", home)
			if hint := s.hint(r); hint != "" {
				q.Set("id_token_hint", hint)
			}
			u.RawQuery = q.Encode()
			redirect(w, u.String())
			return
		}
	}
	redirect(w, home)
}

// ownRequest returns an error unless the request was sent by a page of this origin. The proof is its origin, or a header that
// pages of other origins cannot add.
func (s *Server) ownRequest(r *http.Request) error {
	if err := CheckOrigin(r, s.base); err != nil {
		return err
	}
	if r.Header.Get("X-Requested-With") == "" && r.Header.Get("Origin") == "" && r.Header.Get("Sec-Fetch-Site") != "same-origin" {
		return errors.New("nothing shows where the request comes from")
	}
	return nil
}

// end ends the browser's session, if it has one that has not ended.
func (s *Server) end(w http.ResponseWriter, r *http.Request) error {
	hash := current(r)
	if hash == nil {
		return nil
	}
	sys := principal.System(r.Context(), "a cookie says whose session it is; before that there is nobody")
	row, err := s.engine.Store.Reader().Session.Query().Where(session.TokenHash(hash), session.EndedAtIsNil()).WithUser().Only(sys)
	if ent.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look the session up: %w", err)
	}
	ctx := as(w, r, row.Edges.User, principal.Principal{SessionID: row.ID, AuthenticatedAt: row.AuthenticatedAt})
	_, _, err = op.Run(ctx, s.engine, End, op.ByID{ID: row.ID}, nil)
	return err
}
