package signin

import (
	"net/http"
	"slices"

	"atrium/internal/identity/pages"
)

// consentData is the data of the consent page.
type consentData struct {
	Action, Other, Client, Host, Company, Email string
	Allows                                      []string
}

// standardWords describe OpenID's own scopes, areaWords the areas of the API's scopes.
var (
	standardWords = []struct{ scope, words string }{
		{"openid", "Know that it is you"},
		{"profile", "See your name"},
		{"email", "See your e-mail address"},
		{"offline_access", "Keep its access while you are away"},
	}
	areaWords = []struct{ area, what string }{
		{"services", "services and offerings"},
		{"requests", "requests and tasks"},
		{"workflows", "workflows and how they run"},
		{"users", "the people of the company"},
		{"teams", "teams"},
		{"organizations", "organizations"},
		{"secrets", "secrets, but not their values"},
		{"audit", "the audit log"},
		{"billing", "invoices and credits"},
	}
)

// inWords describes the scopes to the person. It shows a scope without a description by its name, so that nothing
// is granted unseen.
func inWords(scopes []string) []string {
	var out []string
	left := slices.Clone(scopes)
	take := func(scope string) bool {
		n := len(left)
		left = slices.DeleteFunc(left, func(s string) bool { return s == scope })
		return len(left) < n
	}
	for _, s := range standardWords {
		if take(s.scope) {
			out = append(out, s.words)
		}
	}
	for _, a := range areaWords {
		read, write := take(a.area+":read"), take(a.area+":write")
		switch {
		case read && write:
			out = append(out, "See and change "+a.what)
		case read:
			out = append(out, "See "+a.what)
		case write:
			out = append(out, "Change "+a.what)
		}
	}
	return append(out, left...)
}

// consentPage asks whether to grant the client its scopes.
func (s *Server) consentPage(w http.ResponseWriter, r *http.Request, g *goal, st *state) {
	email, err := s.email(r.Context(), st.signIn)
	if err != nil {
		s.Broken(w, r, err)
		return
	}
	s.Render(w, r, http.StatusOK, pages.Page{
		Body: "consent", Title: "Allow " + g.req.ClientName + "?", Leads: g.leads,
		Data: consentData{
			Action: g.At("/signin/consent"), Other: g.At(PathSignIn) + "&as=other", Client: g.req.ClientName, Host: g.host, Company: st.chosen.Company.Name,
			Email: email, Allows: inWords(g.req.Scopes),
		},
	})
}

// postConsent grants the client its scopes, or denies them.
func (s *Server) postConsent(w http.ResponseWriter, r *http.Request) {
	g, st := s.at(w, r, stepConsent)
	if st == nil {
		return
	}
	switch r.PostFormValue("consent") {
	case "allow":
		s.done(w, r, g, st, true)
	case "deny":
		s.deny(r.Context(), w, r, g, "access_denied")
	default:
		http.Redirect(w, r, g.At(PathSignIn), http.StatusSeeOther)
	}
}
