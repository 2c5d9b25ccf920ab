package signin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"atrium/ent"
	"atrium/ent/factor"
	"atrium/internal/gate"
	"atrium/internal/identity/mfa"
	"atrium/internal/identity/pages"
	"atrium/internal/platform/id"
	"atrium/internal/platform/locale"
	"atrium/internal/platform/store"
	"atrium/internal/platform/text"
)

// postTOTP confirms an authenticator with its first code.
func (s *Server) postTOTP(w http.ResponseWriter, r *http.Request, at *place) {
	secret := s.open(at.signIn).Secret
	step := int64(0)
	if secret != "" {
		step = mfa.Match(secret, onlyDigits(r.PostFormValue("code")), s.totpTimes())
	}
	if step == 0 {
		s.enrolPage(w, r, at, pages.Page{Faults: map[string]locale.Text{"code": locale.Say("That code does not match. Enter the code that the app shows now.")}}, http.StatusUnprocessableEntity)
		return
	}
	factorID := id.New("fac")
	sealed, err := s.sealer.Seal([]byte(secret), []byte(factorID))
	if err != nil {
		s.Broken(w, r, fmt.Errorf("seal an authenticator's secret: %w", err))
		return
	}
	s.enrolled(w, r, at, func(tx *store.Tx) *ent.FactorCreate {
		return tx.Factor.Create().SetID(factorID).SetKind(factor.KindTotp).SetName(s.Printer(r).T(kindWords[factor.KindTotp])).SetSecretSealed(sealed).SetLastStep(step)
	}, methodOTP)
}

// postNumber sends a code to a number that is being enrolled.
func (s *Server) postNumber(w http.ResponseWriter, r *http.Request, at *place) {
	if s.sms == nil {
		http.Redirect(w, r, at.back, http.StatusSeeOther)
		return
	}
	typed := r.PostFormValue("number")
	number, err := mfa.ParseNumber(typed)
	if err != nil {
		s.enrolPage(w, r, at, pages.Page{
			Values: url.Values{"number": {text.Cut(typed, 40)}},
			Faults: map[string]locale.Text{"number": locale.Say("Enter the number with its country code, as in +49 151 23456789.")},
		}, http.StatusUnprocessableEntity)
		return
	}
	at.signIn, err = s.sendCode(r, at.signIn, nil, number)
	if fault, status := s.notSent(w, r, err); !fault.Empty() {
		s.enrolPage(w, r, at, pages.Page{Error: fault, Values: url.Values{"number": {text.Cut(typed, 40)}}}, status)
		return
	}
	http.Redirect(w, r, at.way("sms"), http.StatusSeeOther)
}

// postNumberCode confirms a number with the code that was sent to it.
func (s *Server) postNumberCode(w http.ResponseWriter, r *http.Request, at *place) {
	ours := func(sent *sentCode) bool { return sent.Factor == "" }
	number := s.open(at.signIn).Number
	row, right, err := s.matchSMS(r.Context(), at.signIn, ours, onlyDigits(r.PostFormValue("code")))
	if err != nil {
		s.Broken(w, r, err)
		return
	}
	at.signIn = row
	if !right || number == "" {
		s.enrolPage(w, r, at, pages.Page{Faults: map[string]locale.Text{"code": locale.Say("That code is not right, or too old. After five tries, have a new one sent.")}}, http.StatusUnprocessableEntity)
		return
	}
	factorID := id.New("fac")
	sealed, err := s.sealer.Seal([]byte(number), []byte(factorID))
	if err != nil {
		s.Broken(w, r, fmt.Errorf("seal a number: %w", err))
		return
	}
	s.enrolled(w, r, at, func(tx *store.Tx) *ent.FactorCreate {
		return tx.Factor.Create().SetID(factorID).SetKind(factor.KindSms).SetName(s.Printer(r).T(locale.Say("Telephone %s", mfa.LastDigits(number)))).SetSecretSealed(sealed)
	}, methodSMS)
}

// postNewPasskey stores a new passkey.
func (s *Server) postNewPasskey(w http.ResponseWriter, r *http.Request, at *place) {
	credential, err := s.newPasskey(r, at)
	if errors.Is(err, errPasskey) {
		s.log.InfoContext(r.Context(), "a new passkey was refused", "error", err, "requestId", gate.RequestID(w))
		q := r.URL.Query()
		q.Set("add", "passkey")
		r.URL.RawQuery = q.Encode()
		s.enrolPage(w, r, at, pages.Page{Error: locale.Say("The passkey could not be added. Try again, or add another kind.")}, http.StatusUnprocessableEntity)
		return
	}
	if err != nil {
		s.Broken(w, r, err)
		return
	}
	record, err := json.Marshal(credential)
	if err != nil {
		s.Broken(w, r, fmt.Errorf("write a passkey: %w", err))
		return
	}
	s.enrolled(w, r, at, func(tx *store.Tx) *ent.FactorCreate {
		return tx.Factor.Create().SetKind(factor.KindPasskey).SetName(s.Printer(r).T(kindWords[factor.KindPasskey])).SetCredentialID(credential.ID).SetCredential(record)
	}, methodKey)
}

// newPasskey checks the answer of a new passkey against its challenge.
func (s *Server) newPasskey(r *http.Request, at *place) (*webauthn.Credential, error) {
	answer, err := protocol.ParseCredentialCreationResponseBytes([]byte(r.PostFormValue("credential")))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errPasskey, err)
	}
	row, session, err := s.takeChallenge(r.Context(), at.signIn)
	if err != nil {
		return nil, err
	}
	at.signIn = row
	credential, err := s.passkeys.CreateCredential(&holder{id: row.AccountID}, *session, answer)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errPasskey, err)
	}
	return credential, nil
}

// enrolled stores a confirmed factor. The confirmation was a proof, so the sign-in gains it and gets a new
// cookie.
func (s *Server) enrolled(w http.ResponseWriter, r *http.Request, at *place, create func(*store.Tx) *ent.FactorCreate, method string) {
	var value string
	err := s.signIns.write(r.Context(), func(ctx context.Context, tx *store.Tx) error {
		codes, err := s.addFactor(ctx, tx, gate.Origin(w, r), create(tx), at.signIn.AccountID)
		if err != nil {
			return err
		}
		p := s.open(at.signIn)
		p.Secret, p.Number, p.SMS, p.Passkey = "", "", nil, nil
		p.Codes = append(p.Codes, codes...)
		sealed, err := sealPending(s.sealer, at.signIn.ID, p)
		if err != nil {
			return err
		}
		value, err = s.signIns.raise(ctx, tx, at.signIn, sealed, method, methodMFA)
		return err
	})
	switch {
	case errors.Is(err, mfa.ErrTooMany):
		s.enrolPage(w, r, at, pages.Page{Error: locale.Say("You have as many factors as an account can have. Remove one first.")}, http.StatusConflict)
		return
	case store.IsUnique(err):
		s.enrolPage(w, r, at, pages.Page{Error: locale.Say("This passkey is enrolled already.")}, http.StatusConflict)
		return
	case errors.Is(err, errMoved):
		http.Redirect(w, r, at.back, http.StatusSeeOther)
		return
	case err != nil:
		s.Broken(w, r, err)
		return
	}
	handOut(w, value)
	s.know(w, r, at.signIn.AccountID)
	http.Redirect(w, r, at.back, http.StatusSeeOther)
}

// keepPage shows new recovery codes until the person confirms having saved them.
func (s *Server) keepPage(w http.ResponseWriter, r *http.Request, at *place) {
	s.Render(w, r, http.StatusOK, pages.Page{
		Body: "codes", Title: locale.Say("Keep your recovery codes"), Leads: at.leads,
		Intro: locale.Say("Each of them lets you in once when your second factor is out of reach. They are not shown again: print them, or keep them in a password manager."),
		Data: struct {
			Action string
			Codes  []string
		}{at.At("kept"), s.open(at.signIn).Codes},
	})
}

// postKept deletes the recovery codes' text.
func (s *Server) postKept(w http.ResponseWriter, r *http.Request, at *place) {
	if _, err := s.change(r.Context(), at.signIn, func(p *pending) error { p.Codes = nil; return nil }); err != nil && !errors.Is(err, errMoved) {
		s.Broken(w, r, err)
		return
	}
	http.Redirect(w, r, at.back, http.StatusSeeOther)
}

// onlyDigits returns the digits of a typed code.
func onlyDigits(typed string) string {
	return strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, typed)
}
