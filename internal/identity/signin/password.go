package signin

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"atrium/ent"
	"atrium/ent/account"
	"atrium/internal/gate"
	"atrium/internal/identity/mfa"
	"atrium/internal/identity/pages"
	"atrium/internal/identity/password"
	"atrium/internal/identity/throttle"
	"atrium/internal/platform/locale"
	"atrium/internal/platform/store"
	"atrium/internal/platform/text"
)

// The message is the same whether the address, the password or both are wrong.
var wrongPassword = locale.Say("The e-mail address or the password is not right.")

// maxPassword limits the passwords that are checked, in bytes.
const maxPassword = 2048

// passwordData is the data of the page for the first proof.
type passwordData struct {
	Action, Forgot, SignUp string
	Client                 string // the client's name; empty for our own application
	Passkey                *passkeyForm
}

// passwordPage asks for e-mail address and password, or a passkey.
func (s *Server) passwordPage(w http.ResponseWriter, r *http.Request, g *goal, st *state, p pages.Page, status int) {
	data := passwordData{Action: g.At("/signin/password"), Forgot: pathForgot}
	if s.signUp {
		data.SignUp = "/signup"
	}
	var err error
	if data.Passkey, err = s.firstPasskeyForm(r, g); err != nil {
		s.Broken(w, r, err)
		return
	}
	p.Body, p.Title, p.Data, p.Leads, p.Passkey = "password", locale.Say("Sign in"), data, g.leads, data.Passkey != nil
	switch {
	case st.signIn != nil:
		p.Intro = locale.Say("Please confirm that it is you.")
	case g.req != nil && !g.req.FirstParty:
		p.Intro = locale.Say("to continue to %s", g.req.ClientName)
	case g.req == nil:
		p.Intro = locale.Say("to look after your account")
	}
	if p.Values == nil {
		p.Values = url.Values{"email": {s.likelyEmail(r.Context(), g, st)}}
	}
	s.Render(w, r, status, p)
}

// likelyEmail returns the address of the person who has to confirm, or else the client's hint.
func (s *Server) likelyEmail(ctx context.Context, g *goal, st *state) string {
	if st.signIn != nil {
		if acc, err := s.store.Reader().Account.Get(s.signIns.system(ctx), st.signIn.AccountID); err == nil {
			return acc.Email
		}
	}
	if g.req != nil && len(g.req.LoginHint) <= text.MaxEmail && strings.Contains(g.req.LoginHint, "@") {
		return g.req.LoginHint
	}
	return ""
}

// postPassword checks e-mail address and password. An address without an account causes the same work and the same writes,
// and gets the same message.
func (s *Server) postPassword(w http.ResponseWriter, r *http.Request) {
	g := s.goal(w, r)
	if g == nil {
		return
	}
	row, err := s.signIns.begun(r.Context(), r)
	if err != nil {
		s.Broken(w, r, err)
		return
	}
	typed, plain := strings.TrimSpace(r.PostFormValue("email")), r.PostFormValue("password")
	refuse := func(status int, p pages.Page) {
		p.Values = url.Values{"email": {text.Cut(typed, text.MaxEmail)}}
		s.passwordPage(w, r, g, &state{}, p, status)
	}
	email := strings.ToLower(typed)
	if email == "" || plain == "" {
		refuse(http.StatusUnprocessableEntity, pages.Page{Error: locale.Say("Enter your e-mail address and your password.")})
		return
	}
	if len(email) > text.MaxEmail || len(plain) > maxPassword || text.Cut(email, text.MaxEmail) != email {
		refuse(http.StatusUnprocessableEntity, pages.Page{Error: wrongPassword})
		return
	}
	s.tryPassword(w, r, g, row, email, plain, refuse)
}

// tryPassword compares the password with the account's, counted as one attempt by the throttle, and starts the sign-in or
// refuses.
func (s *Server) tryPassword(w http.ResponseWriter, r *http.Request, g *goal, row *ent.SignIn, email, plain string,
	refuse func(status int, p pages.Page),
) {
	acc, err := s.accountOf(r.Context(), email)
	if err != nil {
		s.Broken(w, r, err)
		return
	}
	try, wait, err := s.throttle.Take(r, email, s.browser(r, acc.ID))
	if err != nil {
		s.Broken(w, r, err)
		return
	}
	if wait > 0 {
		pages.RetryAfter(w, wait)
		refuse(http.StatusTooManyRequests, pages.Page{Error: tooMany(wait)})
		return
	}
	right, err := s.verify(password.From(r.Context(), throttle.Network(r)), acc, plain, try)
	switch {
	case errors.Is(err, password.ErrBusy):
		s.busy(w, r)
	case err != nil:
		s.Broken(w, r, err)
	case !right:
		if err := s.failed(r.Context(), gate.Origin(w, r), g, acc, "password"); err != nil {
			s.Broken(w, r, err)
			return
		}
		refuse(http.StatusUnprocessableEntity, pages.Page{Error: wrongPassword})
	default:
		s.passwordGiven(w, r, g, row, acc, try)
	}
}

// Confirm checks a password against the signed-in person's account. It counts as an attempt to sign in: if wait is not 0,
// no attempt is accepted for that long. Returns password.ErrBusy, wrapped, like the Hasher.
func (s *Server) Confirm(w http.ResponseWriter, r *http.Request, acc *ent.Account, plain string) (right bool, wait time.Duration, err error) {
	ctx := password.From(r.Context(), throttle.Network(r))
	if len(plain) > maxPassword {
		return false, 0, nil
	}
	try, wait, err := s.throttle.Take(r, acc.Email, s.browser(r, acc.ID))
	if err != nil || wait > 0 {
		return false, wait, err
	}
	if right, err = s.verify(ctx, acc, plain, try); err != nil {
		return false, 0, err
	}
	if !right {
		return false, 0, s.failed(ctx, gate.Origin(w, r), &goal{}, acc, "password")
	}
	err = s.signIns.write(ctx, func(ctx context.Context, tx *store.Tx) error { return s.throttle.Proved(ctx, tx, try) })
	if err != nil {
		return false, 0, fmt.Errorf("note the proof: %w", err)
	}
	return true, 0, nil
}

// accountOf returns the account of an address. If there is none, it returns an empty account, which no password opens.
func (s *Server) accountOf(ctx context.Context, email string) (*ent.Account, error) {
	acc, err := s.store.Reader().Account.Query().Where(account.Email(email)).Only(s.signIns.system(ctx))
	if ent.IsNotFound(err) {
		return &ent.Account{Email: email}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look the account up: %w", err)
	}
	return acc, nil
}

// verify compares the password with the account's. An attempt that could not be decided does not count.
func (s *Server) verify(ctx context.Context, acc *ent.Account, plain string, try *throttle.Attempt) (bool, error) {
	right, err := s.hasher.Verify(ctx, acc.PasswordHash, plain)
	if err != nil {
		return false, errors.Join(err, s.throttle.Undo(context.WithoutCancel(ctx), try))
	}
	if right && s.hasher.NeedsRehash(acc.PasswordHash) {
		if err := s.rehash(ctx, acc, plain); err != nil {
			s.log.WarnContext(ctx, "a password could not be hashed anew", "account", acc.ID, "error", err)
		}
	}
	return right, nil
}

// rehash hashes the account's password with the current parameters, unless the password was changed meanwhile.
func (s *Server) rehash(ctx context.Context, acc *ent.Account, plain string) error {
	hash, err := s.hasher.Hash(ctx, plain)
	if err != nil {
		return err
	}
	return s.signIns.write(ctx, func(ctx context.Context, tx *store.Tx) error {
		return tx.Account.Update().Where(account.ID(acc.ID), account.PasswordHash(acc.PasswordHash)).SetPasswordHash(hash).Exec(ctx)
	})
}

// passwordGiven starts the sign-in. If a second factor is to follow, the account's failures stay counted until then, so
// that knowing the password does not buy more guesses of the code.
func (s *Server) passwordGiven(w http.ResponseWriter, r *http.Request, g *goal, old *ent.SignIn, acc *ent.Account, try *throttle.Attempt) {
	ctx := r.Context()
	enrolled, err := mfa.Enrolled(s.signIns.system(ctx), s.store.Reader(), acc.ID)
	if err != nil {
		s.Broken(w, r, err)
		return
	}
	var row *ent.SignIn
	var value string
	err = s.signIns.write(ctx, func(ctx context.Context, tx *store.Tx) error {
		if row, value, err = s.signIns.begin(ctx, tx, r, old, acc.ID, []string{methodPassword}, !enrolled); err != nil {
			return err
		}
		if enrolled {
			return s.throttle.Back(ctx, tx, try)
		}
		return s.throttle.Proved(ctx, tx, try)
	})
	if err != nil {
		s.moved(w, r, g, err)
		return
	}
	handOut(w, value)
	if !enrolled {
		s.know(w, r, acc.ID)
	} else if err := s.sendIfOnly(r, row); err != nil {
		s.log.WarnContext(ctx, "no code could be sent", "account", acc.ID, "error", err)
	}
	http.Redirect(w, r, g.At(PathSignIn), http.StatusSeeOther)
}

// moved answers when a sign-in could not be renewed because another request did so: the next step is determined again.
func (s *Server) moved(w http.ResponseWriter, r *http.Request, g *goal, err error) {
	if errors.Is(err, errMoved) {
		http.Redirect(w, r, g.At(PathSignIn), http.StatusSeeOther)
		return
	}
	s.Broken(w, r, err)
}

// tooMany describes how long to wait.
func tooMany(wait time.Duration) locale.Text {
	minutes := max(1, int((wait+time.Minute-1)/time.Minute))
	return locale.Count(minutes, "There were too many attempts. Try again in a minute.",
		"There were too many attempts. Try again in %d minutes, or set a new password by e-mail.", minutes)
}

// busy asks the person to come again, because too many people are signing in.
func (s *Server) busy(w http.ResponseWriter, r *http.Request) {
	pages.RetryAfter(w, busyPause)
	s.Message(w, r, http.StatusServiceUnavailable, locale.Say("One moment, please"), locale.Say("Too many people are signing in at this moment. Go back and try again in a few seconds."), pages.Link{})
}

const busyPause = 2 * time.Second
