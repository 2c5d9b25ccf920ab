package signin

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"atrium/ent"
	"atrium/ent/predicate"
	"atrium/ent/signin"
	"atrium/internal/clock"
	"atrium/internal/principal"
	"atrium/internal/store"
)

// How long a browser stays signed in.
const (
	signInLife   = 12 * time.Hour
	halfLife     = 15 * time.Minute // with some of the proofs given only
	changesUntil = 15 * time.Minute // after a proof, factors may be looked after
	changesGrace = 15 * time.Minute // more, to send a form that was opened in time
)

// SignIns finds and keeps who is signed in at the hosted pages. Safe for concurrent use.
type SignIns struct{ store *store.Store }

// NewSignIns returns the sign-ins of a store.
func NewSignIns(s *store.Store) *SignIns { return &SignIns{store: s} }

// system returns a context in which rows can be reached that belong to no company, and those of all companies of an
// account.
func (s *SignIns) system(ctx context.Context) context.Context {
	return principal.System(clock.With(ctx, s.store.Clock()), "who signs in acts in no company yet; accounts, factors and sign-ins belong to none")
}

// write runs fn in one transaction that reaches what belongs to no company.
func (s *SignIns) write(ctx context.Context, fn func(context.Context, *store.Tx) error) error {
	return s.store.Write(s.system(ctx), fn) //nolint:wrapcheck // the caller says what it was doing
}

func (s *SignIns) now() time.Time { return s.store.Clock().Now() }

// Current returns the sign-in of the browser that sent r, when it is complete: every factor that the account has was
// asked for. Returns nil for nobody, and for somebody who is halfway.
func (s *SignIns) Current(ctx context.Context, r *http.Request) (*ent.SignIn, error) {
	row, err := s.begun(ctx, r)
	if row == nil || err != nil || row.CompletedAt == nil {
		return nil, err
	}
	if slices.Contains(row.Methods, methodMFA) {
		return row, nil
	}
	enrolled, err := s.enrolled(ctx, row.AccountID)
	if err != nil || enrolled {
		return nil, err // a factor was added elsewhere since
	}
	return row, nil
}

// Fresh tells whether the person has given a proof recently enough to change how it signs in.
func (s *SignIns) Fresh(row *ent.SignIn) bool {
	return row != nil && s.now().Sub(row.AuthenticatedAt) <= changesUntil+changesGrace
}

// begun returns the sign-in of the browser, complete or not; nil for nobody.
func (s *SignIns) begun(ctx context.Context, r *http.Request) (*ent.SignIn, error) {
	hash := tokenHash(onlyCookie(r, signInCookie))
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
	if row.CompletedAt == nil && s.now().Sub(row.AuthenticatedAt) > halfLife {
		return nil, nil
	}
	return row, nil
}

// reload reads a sign-in again. Returns errMoved when it is gone.
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

// EndAll signs an account out of the hosted pages in every browser, but for the sign-in keep; empty for none. The
// transaction's context reaches rows of no company.
func EndAll(ctx context.Context, tx *store.Tx, accountID, keep string) error {
	if err := end(ctx, tx, signin.AccountID(accountID), signin.IDNEQ(keep)); err != nil {
		return fmt.Errorf("end the account's sign-ins: %w", err)
	}
	return nil
}

// end ends the sign-ins that are alive.
func end(ctx context.Context, tx *store.Tx, which ...predicate.SignIn) error {
	return tx.SignIn.Update().Where(append(which, signin.EndedAtIsNil())...).
		SetEndedAt(clock.From(ctx).Now()).ClearPending().Exec(ctx) //nolint:wrapcheck // the caller says what it was doing
}

// errMoved is returned when the sign-in was renewed or ended by another request at the same moment.
var errMoved = errors.New("signin: the sign-in has changed meanwhile")

// begin starts a sign-in after a first proof, and returns it with its cookie's value. A browser in which the same
// account was signed in keeps its row, so that what hangs on it goes on; another account's is ended.
func (s *SignIns) begin(ctx context.Context, tx *store.Tx, r *http.Request, old *ent.SignIn, accountID string, methods []string, complete bool) (*ent.SignIn, string, error) {
	now := s.now()
	value, hash := newToken()
	var done *time.Time
	if complete {
		done = &now
	}
	if old != nil && old.AccountID == accountID {
		u := tx.SignIn.Update().Where(signin.ID(old.ID), signin.TokenHash(old.TokenHash), signin.EndedAtIsNil()).
			SetTokenHash(hash).SetMethods(methods).SetAuthenticatedAt(now).SetExpiresAt(now.Add(signInLife)).ClearPending().
			SetIP(remoteIP(r)).SetUserAgent(userAgent(r))
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
		if err := end(ctx, tx, signin.ID(old.ID)); err != nil {
			return nil, "", fmt.Errorf("end the other account's sign-in: %w", err)
		}
	}
	row, err := tx.SignIn.Create().SetAccountID(accountID).SetTokenHash(hash).SetMethods(methods).SetAuthenticatedAt(now).
		SetNillableCompletedAt(done).SetExpiresAt(now.Add(signInLife)).SetIP(remoteIP(r)).SetUserAgent(userAgent(r)).Save(ctx)
	if err != nil {
		return nil, "", fmt.Errorf("keep the sign-in: %w", err)
	}
	return row, value, nil
}

// raise adds a proof to a sign-in, completes it and renews its cookie, whose value it returns. What the sign-in remembers
// is replaced by pending, unless that is nil. Returns errMoved when another request was faster.
func (s *SignIns) raise(ctx context.Context, tx *store.Tx, row *ent.SignIn, pending []byte, methods ...string) (string, error) {
	now := s.now()
	all := slices.Clone(row.Methods)
	for _, m := range methods {
		if !slices.Contains(all, m) {
			all = append(all, m)
		}
	}
	value, hash := newToken()
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

// handOut gives the browser a renewed sign-in's cookie. Forms that it was shown before are worthless from here on.
func handOut(w http.ResponseWriter, value string) {
	setCookie(w, signInCookie, value, signInLife)
	newFormCookie(w)
}

// remoteIP returns the address at the other end; empty when it cannot be read.
func remoteIP(r *http.Request) string {
	if addr := remoteAddr(r); addr.IsValid() {
		return addr.String()
	}
	return ""
}

func remoteAddr(r *http.Request) netip.Addr {
	ap, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	return ap.Addr().Unmap().WithZone("")
}

// userAgent returns the browser's name of itself, as much of it as rows hold.
func userAgent(r *http.Request) string { return cut(r.UserAgent(), 300) }

// cut shortens s to n bytes of valid UTF-8.
func cut(s string, n int) string {
	s = strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", ""), "�")
	for len(s) > n {
		_, size := utf8.DecodeLastRuneInString(s[:n])
		s = s[:max(0, n-size)]
	}
	return s
}
