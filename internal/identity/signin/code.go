package signin

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"atrium/ent"
	"atrium/ent/factor"
	"atrium/internal/gate"
	"atrium/internal/identity/mfa"
	"atrium/internal/identity/pages"
	"atrium/internal/identity/throttle"
	"atrium/internal/platform/locale"
	"atrium/internal/platform/store"
)

var wrongCode = locale.Say("That code is not right, or it was used before. Codes from an app change every 30 seconds.")

// codeData is the data of the page for the second proof.
type codeData struct {
	Action, Other string
	App           bool        // an authenticator app is enrolled
	Phones        []phoneForm // the telephones that can get a code
	Sent          string      // the telephone that has got one
	Passkey       *passkeyForm
	First         bool // the account has only a passkey, which is then shown before the recovery codes
}

// phoneForm sends a code to one telephone.
type phoneForm struct{ Action, ID, Name string }

// codePage asks for the second factor.
func (s *Server) codePage(w http.ResponseWriter, r *http.Request, g *goal, st *state, p pages.Page, status int) {
	all, err := s.factors(r.Context(), st.signIn.AccountID)
	if err != nil {
		s.Broken(w, r, err)
		return
	}
	data := codeData{Action: g.At("/signin/code"), Other: g.At(PathSignIn) + "&as=other", App: len(mfa.OfKind(all, factor.KindTotp)) > 0}
	if s.sms != nil {
		for _, f := range mfa.OfKind(all, factor.KindSms) {
			data.Phones = append(data.Phones, phoneForm{Action: g.At("/signin/code/sms"), ID: f.ID, Name: f.Name})
			if sent := st.pending.SMS; sent != nil && sent.Factor == f.ID {
				data.Sent = f.Name
			}
		}
	}
	if data.Passkey, err = s.secondPasskeyForm(r.Context(), g, st, all); err != nil {
		s.Broken(w, r, err)
		return
	}
	data.First = data.Passkey != nil && !data.App && len(data.Phones) == 0
	p.Body, p.Title, p.Data, p.Leads, p.Passkey = "code", locale.Say("Confirm that it is you"), data, g.leads, data.Passkey != nil
	s.Render(w, r, status, p)
}

// postSendCode sends a code to one of the account's telephones.
func (s *Server) postSendCode(w http.ResponseWriter, r *http.Request) {
	g, st := s.at(w, r, stepCode)
	if st == nil {
		return
	}
	all, err := s.factors(r.Context(), st.signIn.AccountID)
	if err != nil {
		s.Broken(w, r, err)
		return
	}
	phones := mfa.OfKind(all, factor.KindSms)
	i := slices.IndexFunc(phones, func(f *ent.Factor) bool { return f.ID == r.PostFormValue("phone") })
	if i < 0 || s.sms == nil {
		http.Redirect(w, r, g.At(PathSignIn), http.StatusSeeOther)
		return
	}
	_, err = s.sendCode(r, st.signIn, phones[i], "")
	if text, status := s.notSent(w, r, err); !text.Empty() {
		s.codePage(w, r, g, st, pages.Page{Error: text}, status)
		return
	}
	http.Redirect(w, r, g.At(PathSignIn), http.StatusSeeOther)
}

// notSent explains why no code was sent; empty when one was sent, now or a moment ago.
func (s *Server) notSent(w http.ResponseWriter, r *http.Request, err error) (text locale.Text, status int) {
	wait, limited := errors.AsType[waitError](err)
	switch {
	case err == nil, errors.Is(err, errSoon):
		return locale.Text{}, http.StatusOK
	case limited:
		pages.RetryAfter(w, wait.wait)
		return locale.Say("Too many codes were sent. %s", tooMany(wait.wait)), http.StatusTooManyRequests
	default:
		s.log.ErrorContext(r.Context(), "no code could be sent", "error", err, "requestId", gate.RequestID(w))
		return locale.Say("The message could not be sent. Try again, or use another way."), http.StatusBadGateway
	}
}

// at returns the goal and the browser's state if its next step is want. Otherwise it answers the request and returns
// nil.
func (s *Server) at(w http.ResponseWriter, r *http.Request, want step) (*goal, *state) {
	g, st := s.standing(w, r)
	if g == nil {
		return nil, nil
	}
	if st.step != want {
		http.Redirect(w, r, g.At(PathSignIn), http.StatusSeeOther)
		return nil, nil
	}
	return g, st
}

// postCode accepts a code of an app, of a text message or of the recovery codes.
func (s *Server) postCode(w http.ResponseWriter, r *http.Request) {
	g, st := s.at(w, r, stepCode)
	if st == nil {
		return
	}
	ctx := r.Context()
	code := strings.NewReplacer(" ", "", "-", "", "\u00a0", "").Replace(r.PostFormValue("code"))
	if code == "" {
		s.codePage(w, r, g, st, pages.Page{Faults: map[string]locale.Text{"code": locale.Say("Enter the code.")}}, http.StatusUnprocessableEntity)
		return
	}
	acc, err := s.store.Reader().Account.Get(s.signIns.system(ctx), st.signIn.AccountID)
	if err != nil {
		s.Broken(w, r, fmt.Errorf("read the account: %w", err))
		return
	}
	try, wait, err := s.throttle.Take(r, acc.Email, s.browser(r, acc.ID))
	if err != nil {
		s.Broken(w, r, err)
		return
	}
	if wait > 0 {
		pages.RetryAfter(w, wait)
		s.codePage(w, r, g, st, pages.Page{Error: tooMany(wait)}, http.StatusTooManyRequests)
		return
	}
	value, err := s.spend(ctx, st, code, try)
	switch {
	case err != nil:
		s.moved(w, r, g, err)
	case value == "":
		if err := s.failed(ctx, gate.Origin(w, r), g, acc, "code"); err != nil {
			s.Broken(w, r, err)
			return
		}
		s.codePage(w, r, g, st, pages.Page{Faults: map[string]locale.Text{"code": wrongCode}}, http.StatusUnprocessableEntity)
	default:
		handOut(w, value)
		s.know(w, r, acc.ID)
		http.Redirect(w, r, g.At(PathSignIn), http.StatusSeeOther)
	}
}

// spend uses the code and completes the sign-in, whose new cookie it returns; empty for a wrong code.
func (s *Server) spend(ctx context.Context, st *state, code string, try *throttle.Attempt) (value string, err error) {
	all, err := s.factors(ctx, st.signIn.AccountID)
	if err != nil {
		return "", err
	}
	row, methods := st.signIn, []string{methodOTP, methodMFA}
	used := func(context.Context, *store.Tx) (bool, error) { return false, nil }
	if len(code) == mfa.RecoveryChars {
		used = func(ctx context.Context, tx *store.Tx) (bool, error) {
			good, err := mfa.SpendCode(ctx, tx, row.AccountID, code, s.signIns.now())
			if err != nil || !good {
				return false, err
			}
			return true, s.tell(ctx, tx, row.AccountID, CodeUsed)
		}
	} else if totp, err := mfa.FindTOTP(all, code, s.sealer, s.totpTimes()); err != nil {
		return "", err
	} else if totp != nil {
		used = func(ctx context.Context, tx *store.Tx) (bool, error) { return totp.Spend(ctx, tx, s.signIns.now()) }
	} else {
		ours := func(sent *sentCode) bool {
			return sent.Factor != "" && slices.ContainsFunc(all, func(f *ent.Factor) bool { return f.ID == sent.Factor })
		}
		var right bool
		if row, right, err = s.matchSMS(ctx, row, ours, code); err != nil {
			return "", err
		}
		if right {
			methods = []string{methodSMS, methodMFA}
			used = func(context.Context, *store.Tx) (bool, error) { return true, nil }
		}
	}
	err = s.signIns.write(ctx, func(ctx context.Context, tx *store.Tx) error {
		value = ""
		good, err := used(ctx, tx)
		if err != nil || !good {
			return err
		}
		if value, err = s.signIns.raise(ctx, tx, row, nil, methods...); err != nil {
			return err
		}
		return s.throttle.Proved(ctx, tx, try)
	})
	return value, err
}

// totpTimes returns the times that an authenticator may use: the product's and, on a development server with a moved
// clock, the machine's, which telephones use.
func (s *Server) totpTimes() []time.Time {
	now, ahead := s.signIns.now(), s.store.Clock().Offset()
	if ahead == 0 {
		return []time.Time{now}
	}
	return []time.Time{now, now.Add(-ahead)}
}
