package signin

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"atrium/ent"
	"atrium/ent/auditentry"
	"atrium/ent/user"
	"atrium/internal/gate"
	"atrium/internal/identity/pages"
	"atrium/internal/identity/provider"
	"atrium/internal/op/audit"
	"atrium/internal/people"
	"atrium/internal/platform/locale"
	"atrium/internal/platform/store"
)

// accountData is the data of pages about the account or its companies.
type accountData struct {
	Action, Other, Email string
	Choices              []membership
	Back                 bool // there is a client to return to
}

// RoleWords are the names of roles on pages.
var RoleWords = map[user.Role]locale.Text{
	user.RoleOwner: locale.Say("owner"), user.RoleAdmin: locale.Say("admin"), user.RoleAgent: locale.Say("agent"), user.RoleMember: locale.Say("member"),
}

// Role returns the role of a membership in words.
func (m membership) Role() locale.Text { return RoleWords[m.User.Role] }

// email returns the address of the signed-in account.
func (s *Server) email(ctx context.Context, row *ent.SignIn) (string, error) {
	acc, err := s.store.Reader().Account.Get(s.signIns.system(ctx), row.AccountID)
	if err != nil {
		return "", fmt.Errorf("read the account: %w", err)
	}
	return acc.Email, nil
}

// about renders one of these pages.
func (s *Server) about(w http.ResponseWriter, r *http.Request, g *goal, st *state, status int, p pages.Page, action string) {
	email, err := s.email(r.Context(), st.signIn)
	if err != nil {
		s.Broken(w, r, err)
		return
	}
	p.Leads = g.leads
	p.Data = accountData{
		Action: g.At(action), Other: g.At(PathSignIn) + "&as=other", Email: email, Choices: st.choices,
		Back: g.req != nil && !g.req.FirstParty,
	}
	s.Render(w, r, status, p)
}

// accountPage asks whether to continue as the signed-in account.
func (s *Server) accountPage(w http.ResponseWriter, r *http.Request, g *goal, st *state) {
	s.about(w, r, g, st, http.StatusOK, pages.Page{Body: "account", Title: locale.Say("Choose an account")}, "/signin/account")
}

// postAccount continues as the signed-in account.
func (s *Server) postAccount(w http.ResponseWriter, r *http.Request) {
	g, st := s.at(w, r, stepAccount)
	if st == nil {
		return
	}
	_, err := s.change(r.Context(), st.signIn, func(p *pending) error {
		*p = *p.of(g.key())
		p.Stay = true
		return nil
	})
	if err != nil {
		s.moved(w, r, g, err)
		return
	}
	http.Redirect(w, r, g.At(PathSignIn), http.StatusSeeOther)
}

// refusedPage says that the account has no access. Unknown and deactivated people see the same page.
func (s *Server) refusedPage(w http.ResponseWriter, r *http.Request, g *goal, st *state) {
	p := pages.Page{Body: "refused", Title: locale.Say("You have no access here"), Intro: locale.Say("Your account is not an active member of a company that may use %s.", g.req.ClientName)}
	if g.req.FirstParty {
		p.Intro = locale.Say("Your account is not an active member of any company.")
	}
	s.about(w, r, g, st, http.StatusForbidden, p, "/signin/refused")
}

// postRefused returns to the client with access_denied.
func (s *Server) postRefused(w http.ResponseWriter, r *http.Request) {
	if g, st := s.at(w, r, stepRefused); st != nil {
		s.deny(r.Context(), w, r, g, "access_denied")
	}
}

// companyPage asks for the company to continue in.
func (s *Server) companyPage(w http.ResponseWriter, r *http.Request, g *goal, st *state) {
	p := pages.Page{Body: "company", Title: locale.Say("Choose a company")}
	if len(st.choices) == 1 {
		p.Title, p.Intro = locale.Say("You are invited"), locale.Say("%s has invited you to join.", st.choices[0].Company.Name)
	}
	s.about(w, r, g, st, http.StatusOK, p, "/signin/company")
}

// postCompany continues in one of the account's companies. Choosing a company that has invited the person accepts the
// invitation.
func (s *Server) postCompany(w http.ResponseWriter, r *http.Request) {
	g, st := s.at(w, r, stepCompany)
	if st == nil {
		return
	}
	i := slices.IndexFunc(st.choices, func(m membership) bool { return m.User.ID == r.PostFormValue("user") })
	if i < 0 {
		http.Redirect(w, r, g.At(PathSignIn), http.StatusSeeOther)
		return
	}
	m := st.choices[i]
	if m.Invited() {
		if err := s.accept(r.Context(), gate.Origin(w, r), m.User); err != nil {
			s.Broken(w, r, err)
			return
		}
	}
	_, err := s.change(r.Context(), st.signIn, func(p *pending) error {
		*p = *p.of(g.key())
		p.User = m.User.ID
		return nil
	})
	if err != nil {
		s.moved(w, r, g, err)
		return
	}
	http.Redirect(w, r, g.At(PathSignIn), http.StatusSeeOther)
}

// accept makes an invited user active. The person is signed in as the invited account, whose address was proven, which proves as
// much as the mailed link does.
func (s *Server) accept(ctx context.Context, from audit.Origin, u *ent.User) error {
	err := s.signIns.write(ctx, func(ctx context.Context, tx *store.Tx) error {
		accepted, err := people.Accept(ctx, tx, u, "")
		if err != nil || !accepted {
			return err
		}
		return record(ctx, tx, from, u, event{
			action: "user.updated", resource: "User", outcome: auditentry.OutcomeAllowed,
			changes: map[string]audit.Change{"status": {From: user.StatusInvited, To: user.StatusActive}},
		})
	})
	if err != nil {
		return fmt.Errorf("accept the invitation: %w", err)
	}
	return nil
}

// done returns to the client with a code. Every code starts a session, which is audited before.
func (s *Server) done(w http.ResponseWriter, r *http.Request, g *goal, st *state, consented bool) {
	if g.req == nil {
		http.Redirect(w, r, g.page, http.StatusSeeOther)
		return
	}
	u, row := st.chosen.User, st.signIn
	err := s.signIns.write(r.Context(), func(ctx context.Context, tx *store.Tx) error {
		return record(ctx, tx, gate.Origin(w, r), u, event{
			action: "session.created", resource: "Session", outcome: auditentry.OutcomeAllowed,
			changes: map[string]audit.Change{"methods": {To: row.Methods}, "client": {To: g.req.ClientID}},
		})
	})
	if err != nil {
		s.Broken(w, r, fmt.Errorf("write the sign-in down: %w", err))
		return
	}
	to, err := s.provider.Allow(r.Context(), g.req, provider.Outcome{
		SignInID: row.ID, CompanyID: u.CompanyID, UserID: u.ID, Methods: row.Methods, AuthenticatedAt: row.AuthenticatedAt, Consent: consented,
	})
	if errors.Is(err, provider.ErrOutcome) {
		s.Message(w, r, http.StatusForbidden, locale.Say("Please sign in again"), locale.Say("Your account was changed while you were signing in."),
			pages.Link{Text: locale.Say("Sign in"), To: g.At(PathSignIn) + "&as=other"})
		return
	}
	s.answer(w, r, to, err)
}
