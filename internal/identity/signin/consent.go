package signin

import (
	"net/http"
	"slices"

	"atrium/internal/identity/pages"
	"atrium/internal/platform/locale"
)

// consentData is the data of the consent page.
type consentData struct {
	Action, Other, Client, Host, Company, Email string
	Allows                                      []locale.Text
}

// standardWords describe OpenID's own scopes, areaWords the areas of the API's scopes.
var (
	standardWords = []struct {
		scope string
		words locale.Text
	}{
		{"openid", locale.Say("Know that it is you")},
		{"profile", locale.Say("See your name")},
		{"email", locale.Say("See your e-mail address")},
		{"offline_access", locale.Say("Keep its access while you are away")},
	}
	areaWords = []struct {
		area string
		what locale.Text
	}{
		{"services", locale.Say("services and offerings")},
		{"requests", locale.Say("requests and tasks")},
		{"workflows", locale.Say("workflows and how they run")},
		{"users", locale.Say("the people of the company")},
		{"teams", locale.Say("teams")},
		{"organizations", locale.Say("organizations")},
		{"secrets", locale.Say("secrets, but not their values")},
		{"audit", locale.Say("the audit log")},
		{"billing", locale.Say("invoices and credits")},
	}
)

// inWords describes the scopes to the person. It shows a scope without a description by its name, so that nothing
// is granted unseen.
func inWords(scopes []string) []locale.Text {
	var out []locale.Text
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
			out = append(out, locale.Say("See and change %s", a.what))
		case read:
			out = append(out, locale.Say("See %s", a.what))
		case write:
			out = append(out, locale.Say("Change %s", a.what))
		}
	}
	for _, scope := range left {
		out = append(out, locale.Raw(scope))
	}
	return out
}

// consentPage asks whether to grant the client its scopes.
func (s *Server) consentPage(w http.ResponseWriter, r *http.Request, g *goal, st *state) {
	email, err := s.email(r.Context(), st.signIn)
	if err != nil {
		s.Broken(w, r, err)
		return
	}
	s.Render(w, r, http.StatusOK, pages.Page{
		Body: "consent", Title: locale.Say("Allow %s?", g.req.ClientName), Leads: g.leads,
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
