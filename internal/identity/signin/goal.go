package signin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	"atrium/ent"
	"atrium/ent/authrequest"
	"atrium/internal/identity/pages"
	"atrium/internal/identity/provider"
	"atrium/internal/platform/locale"
)

// goal is the purpose of a sign-in: the authorization request of a client, or a page of the person's own
// account.
type goal struct {
	req   *provider.Request // nil for a page
	page  string            // the target, if it is a page
	began time.Time         // when the request began; a proof given since is recent
	leads []string          // sources that the answer may redirect to
	lang  string            // the language that the client asks for, as in the address; empty for none
	host  string            // the client's host, or its private-use scheme
}

// key identifies the goal, in addresses and in a sign-in's pending data.
func (g *goal) key() string {
	if g.req != nil {
		return "request=" + url.QueryEscape(g.req.ID)
	}
	return "return=" + url.QueryEscape(g.page)
}

// At returns the address of one of the steps ("/signin/password") for the goal.
func (g *goal) At(step string) string { return step + "?" + g.query() }

// query is the key with the language of the pages.
func (g *goal) query() string {
	if g.lang == "" {
		return g.key()
	}
	return g.key() + "&" + url.Values{"ui_locales": {g.lang}}.Encode()
}

// silent reports whether the client wants an answer without any question to the person.
func (g *goal) silent() bool { return g.req != nil && g.req.HasPrompt("none") }

// fresh reports whether a proof given at that time is recent enough for the goal.
func (g *goal) fresh(proof, now time.Time) bool {
	switch {
	case g.req == nil:
		return now.Sub(proof) <= changesUntil
	case !proof.Before(g.began):
		return true
	case g.req.HasPrompt("login"):
		return false
	default:
		return g.req.MaxAge == nil || now.Sub(proof) <= *g.req.MaxAge
	}
}

// goal reads the goal of a request. If there is none, or it has ended, goal answers the request and returns
// nil.
func (s *Server) goal(w http.ResponseWriter, r *http.Request) *goal {
	g, err := s.readGoal(r)
	switch {
	case errors.Is(err, provider.ErrNoRequest):
		s.noRequest(w, r)
		return nil
	case err != nil:
		s.Broken(w, r, err)
		return nil
	}
	return g
}

// noRequest answers for an authorization request that can no longer be answered.
func (s *Server) noRequest(w http.ResponseWriter, r *http.Request) {
	s.Message(w, r, http.StatusGone, locale.Say("This sign-in has ended"),
		locale.Say("It was finished already, has waited for too long or began in another browser. Go back to the application and sign in from there."), s.home())
}

func (s *Server) readGoal(r *http.Request) (*goal, error) {
	q := r.URL.Query()
	if page := q.Get("return"); page != "" {
		if !ownPage(page) {
			return nil, provider.ErrNoRequest
		}
		return &goal{page: page, lang: locale.Match(q.Get("ui_locales"))}, nil
	}
	req, err := s.provider.Pending(r.Context(), q.Get("request"), r)
	if err != nil {
		return nil, err
	}
	row, err := s.store.Reader().AuthRequest.Query().Where(authrequest.ID(req.ID)).Only(s.signIns.system(r.Context()))
	if ent.IsNotFound(err) {
		return nil, provider.ErrNoRequest
	}
	if err != nil {
		return nil, fmt.Errorf("read the authorization request: %w", err)
	}
	to, err := url.Parse(row.RedirectURI)
	if err != nil {
		return nil, fmt.Errorf("read the redirect URI: %w", err)
	}
	return &goal{
		req: req, began: row.CreatedAt, leads: pages.LeadsTo(row.RedirectURI, s.baseURL), lang: locale.Match(q.Get("ui_locales")), host: cmp.Or(to.Host, to.Scheme),
	}, nil
}

// ownPage reports whether a path is a page of the person's account, because only these may be returned to.
func ownPage(page string) bool {
	u, err := url.Parse(page)
	return err == nil && u.Scheme == "" && u.Host == "" && u.User == nil && u.Opaque == "" && !strings.Contains(page, `\`) &&
		strings.HasPrefix(u.Path+"/", "/account/") && path.Clean(u.Path) == u.Path && u.RawPath == ""
}

// answer redirects the browser to the client or the page, or shows the error.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, to string, err error) {
	switch {
	case errors.Is(err, provider.ErrNoRequest):
		s.noRequest(w, r)
	case err != nil:
		s.Broken(w, r, err)
	default:
		http.Redirect(w, r, to, http.StatusSeeOther)
	}
}

// deny answers the client with an error code.
func (s *Server) deny(ctx context.Context, w http.ResponseWriter, r *http.Request, g *goal, code string) {
	if g.req == nil {
		http.Redirect(w, r, s.baseURL+"/", http.StatusSeeOther)
		return
	}
	to, err := s.provider.Deny(ctx, g.req, code)
	s.answer(w, r, to, err)
}
