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
	"atrium/internal/id"
	"atrium/internal/store"
)

// place is where a factor is enrolled: on the way to a goal, because the company requires one, or at /account/mfa.
type place struct {
	base   string // of the forms' addresses: /signin/enrol, /account/mfa
	query  string // behind them
	back   string // where to go on
	signIn *ent.SignIn
	leads  []string
	forced bool
}

// At returns the address of one of the place's forms.
func (p *place) At(form string) string {
	if p.query == "" {
		return p.base + "/" + form
	}
	return p.base + "/" + form + "?" + p.query
}

// way returns the address of the page on which one kind of factor is enrolled.
func (p *place) way(kind string) string {
	sep := "?"
	if strings.Contains(p.back, "?") {
		sep = "&"
	}
	return p.back + sep + "add=" + kind
}

// forced is the place on the way to a goal.
func (s *Server) forced(g *goal, st *state) *place {
	return &place{base: "/signin/enrol", query: g.key(), back: g.At(PathSignIn), signIn: st.signIn, leads: g.leads, forced: true}
}

// forcedPlace returns the place for a form on the way to a goal; nil when it has answered itself.
func (s *Server) forcedPlace(w http.ResponseWriter, r *http.Request) *place {
	g := s.goal(w, r)
	if g == nil {
		return nil
	}
	st, err := s.where(r, g)
	if err != nil {
		s.Broken(w, r, err)
		return nil
	}
	if st.step != stepEnrol && st.step != stepCodes {
		http.Redirect(w, r, g.At(PathSignIn), http.StatusSeeOther)
		return nil
	}
	return s.forced(g, st)
}

// enrolHandler takes a form of a place.
type enrolHandler func(http.ResponseWriter, *http.Request, *place)

// enrolling finds the form's place first.
func (s *Server) enrolling(find func(http.ResponseWriter, *http.Request) *place, next enrolHandler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if p := find(w, r); p != nil {
			next(w, r, p)
		}
	}
}

// enrolData is what the page of enrolment shows.
type enrolData struct {
	Kind                    string // totp, sms, passkey
	Ways                    []enrolWay
	Action, Resend, Restart string
	App                     *authenticator
	Number                  string // that a code was sent to
	Passkey                 *passkeyForm
	Cancel                  string
}

// enrolWay leads to one kind of factor.
type enrolWay struct {
	Kind, Text, To string
	Current        bool
}

// ways returns the kinds of factors that can be enrolled here.
func (s *Server) ways(p *place, kind string) (ways []enrolWay, current string) {
	ways = []enrolWay{{Kind: "totp", Text: "App"}}
	if s.passkeys != nil {
		ways = append(ways, enrolWay{Kind: "passkey", Text: "Passkey"})
	}
	if s.sms != nil {
		ways = append(ways, enrolWay{Kind: "sms", Text: "SMS"})
	}
	current = "totp"
	for i := range ways {
		if ways[i].To = p.way(ways[i].Kind); ways[i].Kind == kind {
			current = kind
		}
	}
	for i := range ways {
		ways[i].Current = ways[i].Kind == current
	}
	return ways, current
}

// enrolPage shows how to enrol a factor: an authenticator app, unless the address names another kind.
func (s *Server) enrolPage(w http.ResponseWriter, r *http.Request, at *place, p Page, status int) {
	var data enrolData
	data.Ways, data.Kind = s.ways(at, r.URL.Query().Get("add"))
	if !at.forced && r.URL.Query().Has("add") {
		data.Cancel = at.back
	}
	acc, err := s.store.Reader().Account.Get(s.signIns.system(r.Context()), at.signIn.AccountID)
	if err == nil {
		switch data.Kind {
		case "totp":
			err = s.fillApp(r.Context(), at, acc, &data)
		case "passkey":
			err = s.fillPasskey(r.Context(), at, acc, &data)
		case "sms":
			s.fillNumber(r, at, &data)
		}
	}
	if err != nil {
		s.Broken(w, r, err)
		return
	}
	p.Body, p.Title, p.Data, p.Leads, p.Passkey = "enrol", "Add a second step", data, at.leads, data.Passkey != nil
	if p.Intro = "From now on, signing in takes your password and something that only you have."; at.forced {
		p.Title, p.Intro = "Set up a second step", "Your company asks everybody to sign in with a password and a second proof. Set one up to go on."
	}
	s.Render(w, r, status, p)
}

// fillApp shows the secret of an authenticator: the same one until it is confirmed, so that a page can be loaded again.
func (s *Server) fillApp(ctx context.Context, at *place, acc *ent.Account, data *enrolData) error {
	data.Action = at.At("totp")
	secret := s.open(at.signIn).Secret
	if secret == "" {
		fresh, err := newTOTPSecret()
		if err != nil {
			return err
		}
		at.signIn, err = s.change(ctx, at.signIn, func(p *pending) error {
			if p.Secret == "" {
				p.Secret = fresh
			}
			secret = p.Secret
			return nil
		})
		if err != nil {
			return err
		}
	}
	app, err := authenticatorOf(secret, acc.Email)
	data.App = app
	return err
}

// fillPasskey draws a challenge for a new passkey.
func (s *Server) fillPasskey(ctx context.Context, at *place, acc *ent.Account, data *enrolData) error {
	all, err := s.factors(ctx, acc.ID)
	if err != nil {
		return err
	}
	h, err := holderOf(acc, all)
	if err != nil {
		return err
	}
	creation, session, err := s.passkeys.BeginRegistration(h,
		webauthn.WithExclusions(webauthn.Credentials(h.credentials).CredentialDescriptors()),
		webauthn.WithAuthenticatorSelection(protocol.AuthenticatorSelection{
			ResidentKey: protocol.ResidentKeyRequirementPreferred, UserVerification: protocol.VerificationPreferred,
		}),
		webauthn.WithConveyancePreference(protocol.PreferNoAttestation))
	if err != nil {
		return fmt.Errorf("begin with a passkey: %w", err)
	}
	at.signIn, err = s.change(ctx, at.signIn, func(p *pending) error {
		p.Passkey, p.Until = session, s.signIns.now().Add(passkeyLife)
		return nil
	})
	if err != nil {
		return err
	}
	data.Passkey, err = newPasskeyForm(at.At("passkey"), "create", creation.Response)
	return err
}

// fillNumber asks for a number, or for the code that went to it.
func (s *Server) fillNumber(r *http.Request, at *place, data *enrolData) {
	data.Action = at.At("sms") + addOf(at, "sms")
	p := s.open(at.signIn)
	if p.SMS != nil && p.SMS.Factor == "" && p.Number != "" && !r.URL.Query().Has("other") {
		data.Resend, data.Action, data.Number = data.Action, at.At("sms/code")+addOf(at, "sms"), p.Number
		data.Restart = at.way("sms") + "&other"
	}
}

// addOf keeps the kind in a form's address, so that its answer is a page of the same kind.
func addOf(at *place, kind string) string {
	sep := "?"
	if at.query != "" {
		sep = "&"
	}
	return sep + url.Values{"add": {kind}}.Encode()
}

// postTOTP confirms an authenticator by its first code.
func (s *Server) postTOTP(w http.ResponseWriter, r *http.Request, at *place) {
	secret := s.open(at.signIn).Secret
	step := int64(0)
	if secret != "" {
		step = s.matchTOTP(secret, onlyDigits(r.PostFormValue("code")))
	}
	if step == 0 {
		s.enrolPage(w, r, at, Page{Faults: map[string]string{"code": "That code does not match. Enter the code that the app shows now."}}, http.StatusUnprocessableEntity)
		return
	}
	factorID := id.New("fac")
	sealed, err := s.sealer.Seal([]byte(secret), []byte(factorID))
	if err != nil {
		s.Broken(w, r, fmt.Errorf("seal an authenticator's secret: %w", err))
		return
	}
	s.enrolled(w, r, at, func(tx *store.Tx) *ent.FactorCreate {
		return tx.Factor.Create().SetID(factorID).SetKind(factor.KindTotp).SetName("Authenticator app").SetSecretSealed(sealed).SetLastStep(step)
	}, methodOTP)
}

// postNumber sends a code to a number that is to be enrolled.
func (s *Server) postNumber(w http.ResponseWriter, r *http.Request, at *place) {
	if s.sms == nil {
		http.Redirect(w, r, at.back, http.StatusSeeOther)
		return
	}
	typed := r.PostFormValue("number")
	number, err := parseNumber(typed)
	if err != nil {
		s.enrolPage(w, r, at, Page{
			Values: url.Values{"number": {cut(typed, 40)}},
			Faults: map[string]string{"number": "Enter the number with its country code, as in +49 151 23456789."},
		}, http.StatusUnprocessableEntity)
		return
	}
	at.signIn, err = s.sendCode(r.Context(), at.signIn, nil, number)
	if text, status := s.notSent(w, r, err); text != "" {
		s.enrolPage(w, r, at, Page{Error: text, Values: url.Values{"number": {cut(typed, 40)}}}, status)
		return
	}
	http.Redirect(w, r, at.way("sms"), http.StatusSeeOther)
}

// postNumberCode confirms a number by the code that went to it.
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
		s.enrolPage(w, r, at, Page{Faults: map[string]string{"code": "That code is not right, or too old. After five tries, have a new one sent."}}, http.StatusUnprocessableEntity)
		return
	}
	factorID := id.New("fac")
	sealed, err := s.sealer.Seal([]byte(number), []byte(factorID))
	if err != nil {
		s.Broken(w, r, fmt.Errorf("seal a number: %w", err))
		return
	}
	s.enrolled(w, r, at, func(tx *store.Tx) *ent.FactorCreate {
		return tx.Factor.Create().SetID(factorID).SetKind(factor.KindSms).SetName("Telephone " + lastDigits(number)).SetSecretSealed(sealed)
	}, methodSMS)
}

// postNewPasskey keeps a new passkey.
func (s *Server) postNewPasskey(w http.ResponseWriter, r *http.Request, at *place) {
	credential, err := s.newPasskey(r, at)
	if errors.Is(err, errPasskey) {
		s.log.InfoContext(r.Context(), "a new passkey was refused", "error", err, "requestId", requestID(w))
		q := r.URL.Query()
		q.Set("add", "passkey")
		r.URL.RawQuery = q.Encode()
		s.enrolPage(w, r, at, Page{Error: "The passkey could not be added. Try again, or add another kind."}, http.StatusUnprocessableEntity)
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
		return tx.Factor.Create().SetKind(factor.KindPasskey).SetName("Passkey").SetCredentialID(credential.ID).SetCredential(record)
	}, methodKey)
}

// newPasskey holds the answer of a new passkey against its challenge.
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

// enrolled keeps a confirmed factor. Confirming it was a proof: the sign-in gains it, and its cookie is renewed.
func (s *Server) enrolled(w http.ResponseWriter, r *http.Request, at *place, create func(*store.Tx) *ent.FactorCreate, method string) {
	var value string
	err := s.signIns.write(r.Context(), func(ctx context.Context, tx *store.Tx) error {
		codes, err := s.addFactor(ctx, tx, originOf(w, r), create(tx), at.signIn.AccountID)
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
	switch v, violated := errors.AsType[*store.Violation](err); {
	case errors.Is(err, errTooMany):
		s.enrolPage(w, r, at, Page{Error: "You have as many factors as an account can have. Remove one first."}, http.StatusConflict)
		return
	case violated && v.Kind == store.Unique:
		s.enrolPage(w, r, at, Page{Error: "This passkey is enrolled already."}, http.StatusConflict)
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

// keepPage shows new recovery codes, until the person says that they are kept.
func (s *Server) keepPage(w http.ResponseWriter, r *http.Request, at *place) {
	s.Render(w, r, http.StatusOK, Page{
		Body: "codes", Title: "Keep your recovery codes", Leads: at.leads,
		Intro: "Each of them lets you in once when your second step is out of reach. They are not shown again: print them, or keep them in a password manager.",
		Data: struct {
			Action string
			Codes  []string
		}{at.At("kept"), s.open(at.signIn).Codes},
	})
}

// postKept forgets the recovery codes' text.
func (s *Server) postKept(w http.ResponseWriter, r *http.Request, at *place) {
	if _, err := s.change(r.Context(), at.signIn, func(p *pending) error { p.Codes = nil; return nil }); err != nil && !errors.Is(err, errMoved) {
		s.Broken(w, r, err)
		return
	}
	http.Redirect(w, r, at.back, http.StatusSeeOther)
}

// onlyDigits leaves the digits of a code as it was typed.
func onlyDigits(typed string) string {
	return strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, typed)
}
