package websession

import (
	"net/http"
	"regexp"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"atrium/internal/platform/locale"
)

// companyName matches an id or a slug.
var companyName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// login begins a sign-in and redirects the browser to the provider. returnTo is the local path to show afterwards. prompt=login
// asks for a new proof, prompt=select_account for another account. company is the company that a person of another issuer wants
// to sign in to.
func (s *Server) login(w http.ResponseWriter, r *http.Request) {
	ctx := r.Context()
	meta, err := s.provider.Metadata(ctx)
	if err != nil {
		s.unavailable(w, r, err)
		return
	}
	q := r.URL.Query()
	company := q.Get("company")
	if !companyName.MatchString(company) {
		company = ""
	}
	f := newFlow(s.provider.Issuer(), localPath(q.Get("returnTo")), company, s.now())
	if err := s.keep(w, append(s.flows(r), f)); err != nil {
		s.layout.Broken(w, r, err)
		return
	}
	options := []oauth2.AuthCodeOption{oauth2.S256ChallengeOption(f.Verifier), oidc.Nonce(f.Nonce)}
	switch prompt := q.Get("prompt"); prompt {
	case "login":
		options = append(options, oauth2.SetAuthURLParam("prompt", prompt))
		if s.embedded == nil {
			options = append(options, oauth2.SetAuthURLParam("max_age", "0")) // makes the issuer return auth_time
		}
	case "select_account":
		options = append(options, oauth2.SetAuthURLParam("prompt", prompt))
	}
	if lang := locale.Match(q.Get("ui_locales")); lang != "" {
		options = append(options, oauth2.SetAuthURLParam("ui_locales", lang))
	}
	client := s.client
	client.Endpoint = meta.Endpoint
	redirect(w, client.AuthCodeURL(f.State, options...))
}
