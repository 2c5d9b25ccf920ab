package signin

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"atrium/ent"
	"atrium/ent/signin"
	"atrium/internal/gate"
	"atrium/internal/identity/access"
	"atrium/internal/identity/mfa"
	"atrium/internal/identity/pages"
	"atrium/internal/people"
	"atrium/internal/platform/clock"
	"atrium/internal/platform/locale"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/platform/text"
)

// How long a browser stays signed in.
const (
	signInLife     = 12 * time.Hour
	incompleteLife = 15 * time.Minute // while only some of the proofs were given
	changesUntil   = 15 * time.Minute // how long after a proof factors may be changed
	changesGrace   = 15 * time.Minute // additional time to send a form that was opened in time
)

// signInCookie identifies a browser's sign-in.
const signInCookie = "__Host-atrium_signin"

// SignIns manages the sign-ins at the hosted pages. Safe for concurrent use.
type SignIns struct{ store *store.Store }

// NewSignIns returns the sign-ins of a store.
func NewSignIns(s *store.Store) *SignIns { return &SignIns{store: s} }

// system returns a context that can access rows of no company, and those of all companies of an account.
func (s *SignIns) system(ctx context.Context) context.Context {
	return principal.System(clock.With(ctx, s.store.Clock()), "who signs in acts in no company yet; accounts, factors and sign-ins belong to none")
}

// write runs fn in one transaction that can access rows of no company.
func (s *SignIns) write(ctx context.Context, fn func(context.Context, *store.Tx) error) error {
	return s.store.Write(s.system(ctx), fn)
}

func (s *SignIns) now() time.Time { return s.store.Clock().Now() }

// Current returns the complete sign-in of the browser that sent r, in which every factor of the account was asked for.
// Returns nil if there is none or it is incomplete.
func (s *SignIns) Current(ctx context.Context, r *http.Request) (*ent.SignIn, error) {
	row, err := s.begun(ctx, r)
	if row == nil || err != nil || row.CompletedAt == nil {
		return nil, err
	}
	if slices.Contains(row.Methods, methodMFA) {
		return row, nil
	}
	enrolled, err := mfa.Enrolled(s.system(ctx), s.store.Reader(), row.AccountID)
	if err != nil || enrolled {
		return nil, err // a factor was added elsewhere since
	}
	return row, nil
}

// Fresh reports whether the person's last proof is recent enough to change how the person signs in.
func (s *SignIns) Fresh(row *ent.SignIn) bool {
	return row != nil && s.now().Sub(row.AuthenticatedAt) <= changesUntil+changesGrace
}

// begun returns the sign-in of the browser, complete or not; nil for none.
func (s *SignIns) begun(ctx context.Context, r *http.Request) (*ent.SignIn, error) {
	hash := pages.TokenHash(pages.OnlyCookie(r, signInCookie))
	if hash == nil {
		return nil, nil
	}
	row, err := s.store.Reader().SignIn.Query().
		Where(signin.TokenHash(hash), signin.EndedAtIsNil(), signin.ExpiresAtGT(s.now())).Only(s.system(ctx))
	if ent.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look the sign-in up: %w", err)
	}
	if row.CompletedAt == nil && s.now().Sub(row.AuthenticatedAt) > incompleteLife {
		return nil, nil
	}
	return row, nil
}

// Reader returns the printer of the person who is signing in or signed in in the browser; without a language for nobody, and for who
// has chosen none.
func (s *SignIns) Reader(r *http.Request) locale.Printer {
	row, err := s.begun(r.Context(), r)
	if err != nil || row == nil {
		return locale.Printer{} // the page that is shown meets the error itself
	}
	p, err := people.ReaderOfAccount(s.system(r.Context()), s.store.Reader(), row.AccountID, "")
	if err != nil {
		return locale.Printer{}
	}
	return p
}

// reload reads a sign-in again. Returns errMoved when it has ended.
func (s *SignIns) reload(ctx context.Context, id string) (*ent.SignIn, error) {
	row, err := s.store.Reader().SignIn.Query().Where(signin.ID(id), signin.EndedAtIsNil(), signin.ExpiresAtGT(s.now())).Only(s.system(ctx))
	if ent.IsNotFound(err) {
		return nil, errMoved
	}
	if err != nil {
		return nil, fmt.Errorf("read the sign-in again: %w", err)
	}
	return row, nil
}

// errMoved is returned when the sign-in was renewed or ended by another request at the same moment.
var errMoved = errors.New("signin: the sign-in has changed meanwhile")

// begin starts a sign-in after a first proof, and returns it with its cookie's value. If the same account was signed in in
// the browser, it keeps its row, so that everything that came from it continues; another account's sign-in is ended.
func (s *SignIns) begin(ctx context.Context, tx *store.Tx, r *http.Request, old *ent.SignIn, accountID string, methods []string, complete bool) (*ent.SignIn, string, error) {
	now := s.now()
	value, hash := pages.NewToken()
	var done *time.Time
	if complete {
		done = &now
	}
	if old != nil && old.AccountID == accountID {
		u := tx.SignIn.Update().Where(signin.ID(old.ID), signin.TokenHash(old.TokenHash), signin.EndedAtIsNil()).
			SetTokenHash(hash).SetMethods(methods).SetAuthenticatedAt(now).SetExpiresAt(now.Add(signInLife)).ClearPending().
			SetIP(gate.RemoteText(r)).SetUserAgent(text.Cut(r.UserAgent(), text.MaxUserAgent))
		if u.SetNillableCompletedAt(done); done == nil {
			u.ClearCompletedAt()
		}
		n, err := u.Save(ctx)
		if err != nil {
			return nil, "", fmt.Errorf("renew the sign-in: %w", err)
		}
		if n == 0 {
			return nil, "", errMoved
		}
		row := *old
		row.TokenHash, row.Methods, row.AuthenticatedAt, row.CompletedAt, row.Pending = hash, methods, now, done, nil
		return &row, value, nil
	}
	if old != nil {
		// Applications keep the access that the other account's sign-in has given them, because they need not run in this
		// browser. Notices are about grants, and PagesOnly ends none, so no queue is needed.
		if _, err := access.End(ctx, access.In(tx, nil), access.SignIn(old.ID).PagesOnly(), access.Replaced); err != nil {
			return nil, "", err
		}
	}
	row, err := tx.SignIn.Create().SetAccountID(accountID).SetTokenHash(hash).SetMethods(methods).SetAuthenticatedAt(now).
		SetNillableCompletedAt(done).SetExpiresAt(now.Add(signInLife)).SetIP(gate.RemoteText(r)).SetUserAgent(text.Cut(r.UserAgent(), text.MaxUserAgent)).Save(ctx)
	if err != nil {
		return nil, "", fmt.Errorf("keep the sign-in: %w", err)
	}
	return row, value, nil
}

// raise adds a proof to a sign-in, completes it and renews its cookie, whose value it returns. pending replaces the
// sign-in's data, unless it is nil. Returns errMoved when another request was faster.
func (s *SignIns) raise(ctx context.Context, tx *store.Tx, row *ent.SignIn, pending []byte, methods ...string) (string, error) {
	now := s.now()
	all := slices.Clone(row.Methods)
	for _, m := range methods {
		if !slices.Contains(all, m) {
			all = append(all, m)
		}
	}
	value, hash := pages.NewToken()
	u := tx.SignIn.Update().Where(signin.ID(row.ID), signin.TokenHash(row.TokenHash), signin.EndedAtIsNil()).
		SetTokenHash(hash).SetMethods(all).SetAuthenticatedAt(now).SetCompletedAt(now).SetExpiresAt(now.Add(signInLife))
	if pending != nil {
		u.SetPending(pending)
	}
	n, err := u.Save(ctx)
	if err != nil {
		return "", fmt.Errorf("renew the sign-in: %w", err)
	}
	if n == 0 {
		return "", errMoved
	}
	return value, nil
}

// handOut sets the cookie of a renewed sign-in. It invalidates forms that the browser was shown before.
func handOut(w http.ResponseWriter, value string) {
	pages.SetCookie(w, signInCookie, value, signInLife)
	pages.NewFormCookie(w)
}
