package account

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"atrium/ent"
	"atrium/ent/company"
	"atrium/ent/user"
	"atrium/internal/identity/access"
	"atrium/internal/identity/pages"
	"atrium/internal/identity/password"
	"atrium/internal/identity/signin"
	"atrium/internal/platform/locale"
	"atrium/internal/platform/store"
)

// overview is the data of /account.
type overview struct {
	Email     string
	Companies []ownCompany
	MFA       string // address of the page of second factors
}

// ownCompany is one of a person's companies.
type ownCompany struct {
	Name string
	Role locale.Text
}

// showAccount shows the account's address, its companies, and links to its settings.
func (s *Server) showAccount(w http.ResponseWriter, r *http.Request) {
	_, acc := s.signedIn(w, r, pathAccount)
	if acc == nil {
		return
	}
	places, err := s.companies(r.Context(), acc)
	if err != nil {
		s.Broken(w, r, err)
		return
	}
	s.Render(w, r, http.StatusOK, pages.Page{
		Body: "overview", Title: locale.Say("Your account"), Wide: true, Data: overview{Email: acc.Email, Companies: places, MFA: signin.PathFactors},
	})
}

// companies lists the companies in which the account is active, 100 at most.
func (s *Server) companies(ctx context.Context, acc *ent.Account) ([]ownCompany, error) {
	ctx = s.system(ctx)
	users, err := s.store.Reader().User.Query().
		Where(user.AccountID(acc.ID), user.LiveUserIDIsNil(), user.StatusEQ(user.StatusActive)).
		Order(user.ByCreatedAt(), user.ByID()).Limit(100).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the account's users: %w", err)
	}
	ids := make([]string, len(users))
	for i, u := range users {
		ids[i] = u.CompanyID
	}
	rows, err := s.store.Reader().Company.Query().Where(company.IDIn(ids...)).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the account's companies: %w", err)
	}
	names := map[string]string{}
	for _, c := range rows {
		names[c.ID] = c.Name
	}
	out := make([]ownCompany, len(users))
	for i, u := range users {
		out[i] = ownCompany{Name: names[u.CompanyID], Role: signin.RoleWords[u.Role]}
	}
	return out, nil
}

// showPassword asks for the old and the new password.
func (s *Server) showPassword(w http.ResponseWriter, r *http.Request) {
	if _, acc := s.signedIn(w, r, pathPassword); acc != nil {
		s.passwordPage(w, r, http.StatusOK, acc, pages.Page{})
	}
}

func (s *Server) passwordPage(w http.ResponseWriter, r *http.Request, status int, acc *ent.Account, p pages.Page) {
	p.Body, p.Title, p.Data = "password", locale.Say("Change your password"), acc.Email
	if p.Intro.Empty() {
		p.Intro = locale.Say("Changing it signs you out everywhere but in this browser.")
	}
	s.Render(w, r, status, p)
}

// postPassword changes the password if the person knows the old one.
func (s *Server) postPassword(w http.ResponseWriter, r *http.Request) {
	row, acc := s.signedIn(w, r, pathPassword)
	if row == nil {
		return
	}
	show := func(status int, p pages.Page) { s.passwordPage(w, r, status, acc, p) }
	right, wait, err := s.signIn.Confirm(w, r, acc, r.PostFormValue("current"))
	switch {
	case errors.Is(err, password.ErrBusy):
		s.busy(w, r)
		return
	case err != nil:
		s.Broken(w, r, err)
		return
	case wait > 0:
		pages.RetryAfter(w, wait)
		show(http.StatusTooManyRequests, pages.Page{Error: locale.Say("There were too many attempts. Try again %s.", inWords(wait))})
		return
	case !right:
		show(http.StatusUnprocessableEntity, pages.Page{Faults: map[string]locale.Text{"current": locale.Say("This is not your password.")}})
		return
	}
	hash, ok := s.choose(w, r, acc, nil, show)
	if !ok {
		return
	}
	err = s.write(r.Context(), func(ctx context.Context, tx *store.Tx) error {
		if err := s.setPassword(ctx, tx, acc, hash); err != nil {
			return err
		}
		_, err := access.End(ctx, access.In(tx, s.mails.outbox.Queue()), access.Account(acc.ID).Except(row.ID), access.PasswordChanged)
		if err != nil {
			return err
		}
		return signin.AuditAccount(ctx, tx, w, r, acc.ID, "user.password_changed", nil)
	})
	switch {
	case errors.Is(err, errLink):
		show(http.StatusConflict, pages.Page{Error: locale.Say("Your password was changed at the same moment elsewhere.")})
	case err != nil:
		s.Broken(w, r, err)
	default:
		s.Message(w, r, http.StatusOK, locale.Say("Your password is changed"), locale.Say("You are signed out everywhere but in this browser."), pages.Link{Text: locale.Say("Your account"), To: pathAccount})
	}
}
