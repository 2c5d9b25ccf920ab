package signin

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"atrium/ent"
	"atrium/ent/company"
	"atrium/ent/user"
	"atrium/internal/identity/mfa"
	"atrium/internal/identity/pages"
)

// step is a person's next step on the way to a goal.
type step int

// The steps, in their order.
const (
	stepPassword step = iota // prove your identity
	stepCode                 // prove it again with another factor
	stepCodes                // save the recovery codes that you were just given
	stepAccount              // continue as this account, or choose another
	stepRefused              // the account has no membership that gives access
	stepCompany              // choose one of several, or accept an invitation
	stepEnrol                // enrol a second factor: the company requires one
	stepConsent              // grant the client its scopes
	stepDone
)

// silentCodes are the errors for a client that wants no questions, for each step that would ask one.
var silentCodes = map[step]string{
	stepPassword: "login_required", stepCode: "login_required", stepAccount: "account_selection_required", stepCompany: "interaction_required",
	stepCodes: "interaction_required", stepEnrol: "interaction_required", stepConsent: "consent_required", stepRefused: "login_required",
}

// membership is a person's user in one company.
type membership struct {
	User    *ent.User
	Company *ent.Company
}

// Invited reports whether the person has not accepted the invitation yet.
func (m membership) Invited() bool { return m.User.Status == user.StatusInvited }

// state is a person's progress towards a goal.
type state struct {
	step     step
	signIn   *ent.SignIn // nil before the password
	pending  *pending
	chosen   *membership  // nil until it is clear
	choices  []membership // of stepCompany
	enrolled bool         // the account has a second factor
}

// next determines the next step. It changes nothing, and every page calls it again.
func (s *Server) next(ctx context.Context, g *goal, row *ent.SignIn) (*state, error) {
	st := &state{signIn: row, pending: &pending{}}
	if row == nil {
		return st, nil
	}
	st.pending = s.open(row).of(g.key())
	var err error
	if st.enrolled, err = mfa.Enrolled(s.signIns.system(ctx), s.store.Reader(), row.AccountID); err != nil {
		return nil, err
	}
	switch {
	case !g.fresh(row.AuthenticatedAt, s.signIns.now()):
		st.step = stepPassword
	case st.enrolled && !slices.Contains(row.Methods, methodMFA):
		st.step = stepCode
	case row.CompletedAt == nil:
		st.step = stepPassword // the factor that it waited for was removed
	case len(st.pending.Codes) > 0:
		st.step = stepCodes
	case g.req == nil:
		st.step = stepDone
	case g.req.HasPrompt("select_account") && !st.pending.Stay && row.AuthenticatedAt.Before(g.began):
		st.step = stepAccount
	default:
		return st, s.nextInCompany(ctx, g, st)
	}
	return st, nil
}

// nextInCompany determines the next step once the account is proved.
func (s *Server) nextInCompany(ctx context.Context, g *goal, st *state) error {
	all, err := s.memberships(ctx, g, st.signIn.AccountID)
	if err != nil {
		return err
	}
	acc, err := s.store.Reader().Account.Get(s.signIns.system(ctx), st.signIn.AccountID)
	if err != nil {
		return fmt.Errorf("read the account: %w", err)
	}
	all = slices.DeleteFunc(slices.Clone(all), func(m membership) bool {
		return m.Invited() && (g.silent() || acc.UnprovenSince != nil || activeIn(all, m.Company.ID))
	})
	st.choose(all)
	if st.step = stepRefused; len(all) == 0 {
		if g.req.UserID != "" {
			st.step = stepPassword // the client expects another user
		}
		return nil
	}
	if st.step = stepCompany; st.chosen == nil {
		st.choices = all
		return nil
	}
	u := st.chosen.User
	if u.SignedOutAt != nil && !st.signIn.AuthenticatedAt.After(*u.SignedOutAt) {
		st.step = stepPassword // signed out everywhere since
		return nil
	}
	if st.step = stepEnrol; st.chosen.Company.MfaRequired && !st.enrolled {
		return nil
	}
	needed, err := s.provider.NeedsConsent(ctx, g.req, u.ID, u.CompanyID)
	if err != nil {
		return err
	}
	if st.step = stepDone; needed {
		st.step = stepConsent
	}
	return nil
}

// activeIn reports whether one of the memberships is active in the company.
func activeIn(all []membership, companyID string) bool {
	return slices.ContainsFunc(all, func(m membership) bool { return !m.Invited() && m.Company.ID == companyID })
}

// choose sets the membership that was chosen, or the only one. An invitation must be chosen to be accepted.
func (st *state) choose(all []membership) {
	for i, m := range all {
		if !m.Invited() && (len(all) == 1 || m.User.ID == st.pending.User) {
			st.chosen = &all[i]
		}
	}
}

// maxMemberships limits the companies that a person may choose from.
const maxMemberships = 200

// memberships returns the account's active and invited users, in the client's company or, for the web application,
// in any company. People enter sandboxes through their live companies.
func (s *Server) memberships(ctx context.Context, g *goal, accountID string) ([]membership, error) {
	ctx = s.signIns.system(ctx)
	q := s.store.Reader().User.Query().
		Where(user.AccountID(accountID), user.LiveUserIDIsNil(), user.StatusIn(user.StatusActive, user.StatusInvited)).
		Order(user.ByCreatedAt(), user.ByID()).Limit(maxMemberships)
	if g.req.CompanyID != "" {
		q.Where(user.CompanyID(g.req.CompanyID))
	}
	if g.req.UserID != "" {
		q.Where(user.ID(g.req.UserID))
	}
	users, err := q.All(ctx)
	if err != nil {
		return nil, fmt.Errorf("look for the account's companies: %w", err)
	}
	ids := make([]string, len(users))
	for i, u := range users {
		ids[i] = u.CompanyID
	}
	companies, err := s.store.Reader().Company.Query().Where(company.IDIn(ids...), company.SandboxOfIsNil()).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("look the companies up: %w", err)
	}
	var out []membership
	for _, u := range users {
		if i := slices.IndexFunc(companies, func(c *ent.Company) bool { return c.ID == u.CompanyID }); i >= 0 {
			out = append(out, membership{u, companies[i]})
		}
	}
	return out, nil
}

// standing returns the browser's goal and state; nil if it has answered the request.
func (s *Server) standing(w http.ResponseWriter, r *http.Request) (*goal, *state) {
	g := s.goal(w, r)
	if g == nil {
		return nil, nil
	}
	row, err := s.signIns.begun(r.Context(), r)
	if err != nil {
		s.Broken(w, r, err)
		return nil, nil
	}
	st, err := s.next(r.Context(), g, row)
	if err != nil {
		s.Broken(w, r, err)
		return nil, nil
	}
	return g, st
}

// show answers GET /signin with the page of the next step or, if there is none, with the redirect back.
func (s *Server) show(w http.ResponseWriter, r *http.Request) {
	g, st := s.standing(w, r)
	if g == nil {
		return
	}
	if g.silent() && st.step != stepDone {
		s.deny(r.Context(), w, r, g, silentCodes[st.step])
		return
	}
	if r.URL.Query().Has("as") && st.step > stepPassword {
		st.step, st.signIn = stepPassword, nil // the person wants another account; the current sign-in stays until the other one is proved
	}
	s.page(w, r, g, st)
}

// page answers with the page of the step.
func (s *Server) page(w http.ResponseWriter, r *http.Request, g *goal, st *state) {
	switch st.step {
	case stepPassword:
		s.passwordPage(w, r, g, st, pages.Page{}, http.StatusOK)
	case stepCode:
		s.codePage(w, r, g, st, pages.Page{}, http.StatusOK)
	case stepCodes:
		s.keepPage(w, r, s.forced(g, st))
	case stepAccount:
		s.accountPage(w, r, g, st)
	case stepRefused:
		s.refusedPage(w, r, g, st)
	case stepCompany:
		s.companyPage(w, r, g, st)
	case stepEnrol:
		s.enrolPage(w, r, s.forced(g, st), pages.Page{}, http.StatusOK)
	case stepConsent:
		s.consentPage(w, r, g, st)
	case stepDone:
		s.done(w, r, g, st, false)
	}
}
