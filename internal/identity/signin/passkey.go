package signin

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"atrium/ent"
	"atrium/ent/factor"
	"atrium/internal/gate"
	"atrium/internal/identity/mfa"
	"atrium/internal/identity/pages"
	"atrium/internal/identity/throttle"
	"atrium/internal/op/input"
	"atrium/internal/platform/locale"
	"atrium/internal/platform/store"
)

// passkeyLife is how long a passkey has to answer a challenge.
const passkeyLife = 5 * time.Minute

// errPasskey says that a passkey's answer was refused.
var errPasskey = errors.New("signin: the passkey's answer was not taken")

var wrongPasskey = locale.Say("The passkey was not accepted. Try again, or sign in another way.")

// passkeyForm is a form that the page's script fills with a passkey's answer.
type passkeyForm struct {
	Action  string
	Kind    string // get, create
	Options string // of navigator.credentials, as JSON
	State   string // the sealed challenge, if there is no sign-in to store it in
}

// holder is an account in the form that WebAuthn needs.
type holder struct {
	id, email   string
	factors     []*ent.Factor
	credentials []webauthn.Credential
}

func (h *holder) WebAuthnID() []byte                         { return []byte(h.id) }
func (h *holder) WebAuthnName() string                       { return h.email }
func (h *holder) WebAuthnDisplayName() string                { return h.email }
func (h *holder) WebAuthnCredentials() []webauthn.Credential { return h.credentials }

// holderOf returns the account with its passkeys.
func holderOf(acc *ent.Account, all []*ent.Factor) (*holder, error) {
	h := &holder{id: acc.ID, email: acc.Email, factors: mfa.OfKind(all, factor.KindPasskey)}
	for _, f := range h.factors {
		var c webauthn.Credential
		if err := json.Unmarshal(f.Credential, &c); err != nil {
			return nil, fmt.Errorf("read a passkey: %w", err)
		}
		h.credentials = append(h.credentials, c)
	}
	return h, nil
}

// challenge is the challenge of a first passkey. The browser carries it, sealed for the forms' cookie.
type challenge struct {
	Session webauthn.SessionData `json:"session"`
	Until   time.Time            `json:"until"`
}

// firstPasskeyForm offers signing in with only a passkey, which then has to verify its owner.
func (s *Server) firstPasskeyForm(r *http.Request, g *goal) (*passkeyForm, error) {
	if s.passkeys == nil {
		return nil, nil
	}
	assertion, session, err := s.passkeys.BeginDiscoverableLogin(webauthn.WithUserVerification(protocol.VerificationRequired))
	if err != nil {
		return nil, fmt.Errorf("begin with a passkey: %w", err)
	}
	plain, err := json.Marshal(challenge{*session, s.signIns.now().Add(passkeyLife)})
	if err != nil {
		return nil, fmt.Errorf("write a challenge: %w", err)
	}
	sealed, err := s.sealer.Seal(plain, passkeyAAD(pages.FormToken(r)))
	if err != nil {
		return nil, fmt.Errorf("seal a challenge: %w", err)
	}
	f, err := newPasskeyForm(g.At("/signin/passkey"), "get", assertion.Response)
	if err != nil {
		return nil, err
	}
	f.State = base64.RawURLEncoding.EncodeToString(sealed)
	return f, nil
}

func passkeyAAD(formToken string) []byte { return []byte("sign-in/passkey/" + formToken) }

func newPasskeyForm(action, kind string, options any) (*passkeyForm, error) {
	b, err := json.Marshal(options)
	if err != nil {
		return nil, fmt.Errorf("write a passkey's options: %w", err)
	}
	return &passkeyForm{Action: action, Kind: kind, Options: string(b)}, nil
}

// secondPasskeyForm offers a passkey as the second proof after the password.
func (s *Server) secondPasskeyForm(ctx context.Context, g *goal, st *state, all []*ent.Factor) (*passkeyForm, error) {
	if s.passkeys == nil || len(mfa.OfKind(all, factor.KindPasskey)) == 0 {
		return nil, nil
	}
	h, err := holderOf(&ent.Account{ID: st.signIn.AccountID}, all)
	if err != nil {
		return nil, err
	}
	assertion, session, err := s.passkeys.BeginLogin(h, webauthn.WithUserVerification(protocol.VerificationPreferred))
	if err != nil {
		return nil, fmt.Errorf("begin with a passkey: %w", err)
	}
	st.signIn, err = s.change(ctx, st.signIn, func(p *pending) error {
		p.Passkey, p.Until = session, s.signIns.now().Add(passkeyLife)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return newPasskeyForm(g.At("/signin/passkey"), "get", assertion.Response)
}

// postPasskey accepts a passkey's answer, as the first proof or the second.
func (s *Server) postPasskey(w http.ResponseWriter, r *http.Request) {
	g, st := s.standing(w, r)
	if g == nil {
		return
	}
	try, wait, err := s.throttle.TakeAnonymous(r)
	if err != nil {
		s.Broken(w, r, err)
		return
	}
	again := s.passwordPage
	check := s.firstPasskey
	if st.step == stepCode && r.PostFormValue("state") == "" {
		again, check = s.codePage, s.secondPasskey
	}
	if wait > 0 {
		pages.RetryAfter(w, wait)
		again(w, r, g, st, pages.Page{Error: tooMany(wait)}, http.StatusTooManyRequests)
		return
	}
	account, value, err := check(r, st, try)
	switch {
	case errors.Is(err, errPasskey):
		s.log.InfoContext(r.Context(), "a passkey was refused", "error", err, "requestId", gate.RequestID(w))
		if account != nil {
			if err := s.failed(r.Context(), gate.Origin(w, r), g, account, "passkey"); err != nil {
				s.Broken(w, r, err)
				return
			}
		}
		again(w, r, g, st, pages.Page{Error: wrongPasskey}, http.StatusUnprocessableEntity)
	case err != nil:
		s.moved(w, r, g, err)
	default:
		handOut(w, value)
		s.know(w, r, account.ID)
		http.Redirect(w, r, g.At(PathSignIn), http.StatusSeeOther)
	}
}

// firstPasskey signs in the passkey's owner, with both proofs at once. A challenge can be answered once.
func (s *Server) firstPasskey(r *http.Request, st *state, try *throttle.Attempt) (*ent.Account, string, error) {
	ctx := r.Context()
	c, err := s.openChallenge(r)
	if err != nil {
		return nil, "", err
	}
	answer, err := parseAssertion(r)
	if err != nil {
		return nil, "", err
	}
	acc, h, err := s.ownerOf(ctx, answer.Response.UserHandle)
	if err != nil {
		return nil, "", err
	}
	_, credential, err := s.passkeys.ValidatePasskeyLogin(func(_, handle []byte) (webauthn.User, error) { return h, nil }, c.Session, answer)
	if err != nil {
		return acc, "", fmt.Errorf("%w: %w", errPasskey, err)
	}
	var value string
	err = s.signIns.write(ctx, func(ctx context.Context, tx *store.Tx) error {
		if err := throttle.SpendChallenge(ctx, tx, c.Session.Challenge, c.Until); err != nil {
			return err
		}
		if err := s.usePasskey(ctx, tx, h, credential); err != nil {
			return err
		}
		if _, value, err = s.signIns.begin(ctx, tx, r, st.signIn, acc.ID, []string{methodKey, methodMFA}, true); err != nil {
			return err
		}
		return s.throttle.Proved(ctx, tx, try.Of(acc.Email))
	})
	if store.IsUnique(err) {
		return acc, "", fmt.Errorf("%w: the challenge was answered before", errPasskey)
	}
	return acc, value, err
}

// openChallenge returns this browser's challenge.
func (s *Server) openChallenge(r *http.Request) (*challenge, error) {
	if s.passkeys == nil {
		return nil, errPasskey
	}
	sealed, err := base64.RawURLEncoding.DecodeString(r.PostFormValue("state"))
	if err != nil {
		return nil, errPasskey
	}
	plain, err := s.sealer.Unseal(sealed, passkeyAAD(r.PostFormValue("csrf")))
	if err != nil {
		return nil, fmt.Errorf("%w: the challenge is not this browser's", errPasskey)
	}
	var c challenge
	if err := json.Unmarshal(plain, &c); err != nil {
		return nil, fmt.Errorf("read a challenge: %w", err)
	}
	if c.Until.Before(s.signIns.now()) {
		return nil, fmt.Errorf("%w: the challenge is too old", errPasskey)
	}
	return &c, nil
}

// ownerOf returns the account that a passkey names as its own.
func (s *Server) ownerOf(ctx context.Context, handle []byte) (*ent.Account, *holder, error) {
	if !input.Storable(string(handle)) { // PostgreSQL would refuse the query
		return nil, nil, fmt.Errorf("%w: of nobody", errPasskey)
	}
	acc, err := s.store.Reader().Account.Get(s.signIns.system(ctx), string(handle))
	if ent.IsNotFound(err) {
		return nil, nil, fmt.Errorf("%w: of nobody here", errPasskey)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read the account: %w", err)
	}
	all, err := s.factors(ctx, acc.ID)
	if err != nil {
		return nil, nil, err
	}
	h, err := holderOf(acc, all)
	return acc, h, err
}

// secondPasskey completes a sign-in that the password began.
func (s *Server) secondPasskey(r *http.Request, st *state, try *throttle.Attempt) (*ent.Account, string, error) {
	ctx := r.Context()
	acc, h, err := s.ownerOf(ctx, []byte(st.signIn.AccountID))
	if err != nil {
		return nil, "", err
	}
	answer, err := parseAssertion(r)
	if err != nil {
		return acc, "", err
	}
	row, session, err := s.takeChallenge(ctx, st.signIn)
	if err != nil {
		return acc, "", err
	}
	credential, err := s.passkeys.ValidateLogin(h, *session, answer)
	if err != nil {
		return acc, "", fmt.Errorf("%w: %w", errPasskey, err)
	}
	var value string
	err = s.signIns.write(ctx, func(ctx context.Context, tx *store.Tx) error {
		if err := s.usePasskey(ctx, tx, h, credential); err != nil {
			return err
		}
		if value, err = s.signIns.raise(ctx, tx, row, nil, methodKey, methodMFA); err != nil {
			return err
		}
		return s.throttle.Proved(ctx, tx, try.Of(acc.Email))
	})
	return acc, value, err
}

// takeChallenge removes the challenge from the sign-in's pending data, because it can be answered once.
func (s *Server) takeChallenge(ctx context.Context, row *ent.SignIn) (*ent.SignIn, *webauthn.SessionData, error) {
	var session *webauthn.SessionData
	var until time.Time
	row, err := s.change(ctx, row, func(p *pending) error {
		if session, until = p.Passkey, p.Until; session == nil {
			return errPasskey
		}
		p.Passkey, p.Until = nil, time.Time{}
		return nil
	})
	if err != nil {
		return row, nil, err
	}
	if s.passkeys == nil || until.Before(s.signIns.now()) {
		return row, nil, fmt.Errorf("%w: the challenge is too old", errPasskey)
	}
	return row, session, nil
}

// usePasskey stores the counter that the passkey showed. Returns errPasskey if the counter did not increase, which
// means that the passkey was copied, and if another request used the passkey at the same moment.
func (s *Server) usePasskey(ctx context.Context, tx *store.Tx, h *holder, c *webauthn.Credential) error {
	if c.Authenticator.CloneWarning {
		return fmt.Errorf("%w: its counter went back", errPasskey)
	}
	for i, old := range h.credentials {
		if !bytes.Equal(old.ID, c.ID) {
			continue
		}
		record, err := json.Marshal(c)
		if err != nil {
			return fmt.Errorf("write a passkey: %w", err)
		}
		n, err := tx.Factor.Update().Where(factor.ID(h.factors[i].ID), factor.Credential(h.factors[i].Credential)).
			SetCredential(record).SetLastUsedAt(s.signIns.now()).Save(ctx)
		if err != nil {
			return fmt.Errorf("keep a passkey's counter: %w", err)
		}
		if n == 0 {
			return fmt.Errorf("%w: it was used by another request", errPasskey)
		}
		return nil
	}
	return errPasskey
}

// parseAssertion reads a passkey's answer.
func parseAssertion(r *http.Request) (*protocol.ParsedCredentialAssertionData, error) {
	answer, err := protocol.ParseCredentialRequestResponseBytes([]byte(r.PostFormValue("credential")))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errPasskey, err)
	}
	return answer, nil
}
