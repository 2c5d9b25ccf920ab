package account

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"atrium/ent"
	"atrium/ent/account"
	"atrium/ent/company"
	"atrium/ent/mailedlink"
	"atrium/ent/user"
	"atrium/internal/identity/access"
	"atrium/internal/identity/pages"
	"atrium/internal/identity/password"
	"atrium/internal/identity/signin"
	"atrium/internal/identity/throttle"
	"atrium/internal/op/audit"
	"atrium/internal/people"
	"atrium/internal/platform/clock"
	"atrium/internal/platform/locale"
	"atrium/internal/platform/store"
)

var resetAgain = again{locale.Say("Ask for a new one if you still want to set your password."), pages.Link{Text: locale.Say("Ask for a new link"), To: pathForgot}}

// tokenForm is the data of pages with a link's form.
type tokenForm struct {
	Token, Email, Name, Company string
	Password                    bool // the form asks for a password
}

// showReset shows the form that sets a new password. It leaves the link unused.
func (s *Server) showReset(w http.ResponseWriter, r *http.Request) {
	if row, acc, token := s.resetLink(w, r); row != nil {
		s.resetPage(w, r, http.StatusOK, acc, token, pages.Page{})
	}
}

func (s *Server) resetPage(w http.ResponseWriter, r *http.Request, status int, acc *ent.Account, token string, p pages.Page) {
	p.Body, p.Title, p.Data = "reset", locale.Say("Set a new password"), tokenForm{Token: token, Email: acc.Email}
	s.Render(w, r, status, p)
}

// resetLink finds the request's link and its account. If there is none, it answers the request and returns nil.
func (s *Server) resetLink(w http.ResponseWriter, r *http.Request) (*ent.MailedLink, *ent.Account, string) {
	row, token, err := s.link(r, mailedlink.KindPasswordReset)
	if err != nil {
		s.deadLink(w, r, err, resetAgain)
		return nil, nil, ""
	}
	acc, err := s.account(r.Context(), *row.AccountID)
	if err != nil {
		s.Broken(w, r, err)
		return nil, nil, ""
	}
	return row, acc, token
}

// postReset sets the new password and signs the account out everywhere.
func (s *Server) postReset(w http.ResponseWriter, r *http.Request) {
	row, acc, token := s.resetLink(w, r)
	if row == nil {
		return
	}
	hash, ok := s.choose(w, r, acc, nil, func(status int, p pages.Page) { s.resetPage(w, r, status, acc, token, p) })
	if !ok {
		return
	}
	err := s.write(r.Context(), func(ctx context.Context, tx *store.Tx) error {
		if err := use(ctx, tx, row); err != nil {
			return err
		}
		if err := s.setPassword(ctx, tx, acc, hash); err != nil {
			return err
		}
		if err := people.Prove(ctx, tx, acc.ID); err != nil {
			return err
		}
		_, err := access.End(ctx, access.In(tx, s.mails.outbox.Queue()), access.Account(acc.ID), access.PasswordReset)
		if err != nil {
			return err
		}
		if err := throttle.Forgive(ctx, tx, acc.Email); err != nil {
			return err
		}
		return signin.AuditAccount(ctx, tx, w, r, acc.ID, "user.password_reset", nil)
	})
	if err != nil {
		s.deadLink(w, r, err, resetAgain)
		return
	}
	s.Message(w, r, http.StatusOK, locale.Say("Your new password is set"), locale.Say("You are signed out everywhere. Sign in with the new password."), s.home())
}

// choose checks the form's new password and hashes it, before any transaction. If the password is refused, it answers
// with show or an error and returns false. more are words about the person, besides the account's.
func (s *Server) choose(w http.ResponseWriter, r *http.Request, acc *ent.Account, more []string, show func(int, pages.Page)) (hash string, ok bool) {
	about, err := s.about(r.Context(), acc)
	if err != nil {
		s.Broken(w, r, err)
		return "", false
	}
	plain := r.PostFormValue("password")
	if err := s.rules.Check(plain, append(about, more...)...); err != nil {
		faults, ok := fault(err)
		if !ok {
			s.Broken(w, r, err)
			return "", false
		}
		show(http.StatusUnprocessableEntity, pages.Page{Faults: faults})
		return "", false
	}
	hash, err = s.hasher.Hash(password.From(r.Context(), throttle.Network(r)), plain)
	switch {
	case errors.Is(err, password.ErrBusy):
		s.busy(w, r)
	case err != nil:
		s.Broken(w, r, err)
	default:
		return hash, true
	}
	return "", false
}

// about returns words about an account's person, which are refused as passwords.
func (s *Server) about(ctx context.Context, acc *ent.Account) ([]string, error) {
	words := []string{acc.Email}
	if acc.ID == "" {
		return words, nil
	}
	ctx = s.system(ctx)
	users, err := s.store.Reader().User.Query().Where(user.AccountID(acc.ID), user.LiveUserIDIsNil(), user.StatusEQ(user.StatusActive)).Limit(20).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the account's users: %w", err)
	}
	var ids []string
	for _, u := range users {
		words, ids = append(words, u.Name), append(ids, u.CompanyID)
	}
	names, err := s.store.Reader().Company.Query().Where(company.IDIn(ids...)).Select(company.FieldName).Strings(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the account's companies: %w", err)
	}
	return append(words, names...), nil
}

// setPassword sets the account's password. Returns errLink if it was changed since the account was read. It
// invalidates other links that could change the account, and notifies the person.
func (s *Server) setPassword(ctx context.Context, tx *store.Tx, acc *ent.Account, hash string) error {
	same := account.PasswordHash(acc.PasswordHash)
	if acc.PasswordHash == "" {
		same = account.Or(account.PasswordHashIsNil(), account.PasswordHash(""))
	}
	n, err := tx.Account.Update().Where(account.ID(acc.ID), same).SetPasswordHash(hash).SetPasswordChangedAt(clock.From(ctx).Now()).Save(ctx)
	if err != nil {
		return fmt.Errorf("set the password: %w", err)
	}
	if n != 1 {
		return errLink
	}
	if err := kill(ctx, tx, acc.ID, mailedlink.KindPasswordReset, mailedlink.KindEmailChange); err != nil {
		return err
	}
	if acc.PasswordHash == "" {
		return nil // the first password changes nothing that the person needs to hear of
	}
	return s.mails.Notify(ctx, tx, acc.ID, PasswordChanged)
}

// changed returns one field of an audit entry.
func changed(from, to any) audit.Change { return audit.Change{From: from, To: to} }
