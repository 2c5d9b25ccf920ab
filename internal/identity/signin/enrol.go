package signin

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"atrium/ent"
	"atrium/internal/identity/mfa"
	"atrium/internal/identity/pages"
	"atrium/internal/platform/locale"
)

// place is where a factor is enrolled: on the way to a goal, because the company requires one, or at /account/mfa.
type place struct {
	base   string // base path of the forms: /signin/enrol, /account/mfa
	query  string // the forms' query
	back   string // where to continue
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

// forced returns the place on the way to a goal.
func (s *Server) forced(g *goal, st *state) *place {
	return &place{base: "/signin/enrol", query: g.query(), back: g.At(PathSignIn), signIn: st.signIn, leads: g.leads, forced: true}
}

// forcedPlace returns the place for a form on the way to a goal; nil if it has answered the request.
func (s *Server) forcedPlace(w http.ResponseWriter, r *http.Request) *place {
	g, st := s.standing(w, r)
	if g == nil {
		return nil
	}
	if st.step != stepEnrol && st.step != stepCodes {
		http.Redirect(w, r, g.At(PathSignIn), http.StatusSeeOther)
		return nil
	}
	return s.forced(g, st)
}

// enrolHandler handles a form of a place.
type enrolHandler func(http.ResponseWriter, *http.Request, *place)

// enrolling finds the form's place before it calls next.
func (s *Server) enrolling(find func(http.ResponseWriter, *http.Request) *place, next enrolHandler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if p := find(w, r); p != nil {
			next(w, r, p)
		}
	}
}

// enrolData is the data of the enrolment page.
type enrolData struct {
	Kind                    string // totp, sms, passkey
	Ways                    []enrolWay
	Action, Resend, Restart string
	App                     *mfa.Authenticator
	Number                  string // the number that a code was sent to
	Passkey                 *passkeyForm
	Cancel                  string
}

// enrolWay links to the enrolment of one kind of factor.
type enrolWay struct {
	Kind, To string
	Text     locale.Text
	Current  bool
}

// ways returns the kinds of factors that can be enrolled here.
func (s *Server) ways(p *place, kind string) (ways []enrolWay, current string) {
	ways = []enrolWay{{Kind: "totp", Text: locale.Say("App")}}
	if s.passkeys != nil {
		ways = append(ways, enrolWay{Kind: "passkey", Text: locale.Say("Passkey")})
	}
	if s.sms != nil {
		ways = append(ways, enrolWay{Kind: "sms", Text: locale.Say("SMS")})
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
func (s *Server) enrolPage(w http.ResponseWriter, r *http.Request, at *place, p pages.Page, status int) {
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
	p.Body, p.Title, p.Data, p.Leads, p.Passkey = "enrol", locale.Say("Add a second factor"), data, at.leads, data.Passkey != nil
	if p.Intro = locale.Say("From now on, signing in takes your password and something that only you have."); at.forced {
		p.Title = locale.Say("Set up a second factor")
		p.Intro = locale.Say("Your company asks everybody to sign in with a password and a second factor. Set one up to continue.")
	}
	s.Render(w, r, status, p)
}

// fillApp sets the secret of an authenticator. It stays the same until it is confirmed, so that the page can be
// reloaded.
func (s *Server) fillApp(ctx context.Context, at *place, acc *ent.Account, data *enrolData) error {
	data.Action = at.At("totp")
	secret := s.open(at.signIn).Secret
	if secret == "" {
		fresh, err := mfa.NewSecret()
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
	app, err := mfa.AuthenticatorOf(secret, acc.Email)
	data.App = app
	return err
}

// fillPasskey creates a challenge for a new passkey.
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

// fillNumber asks for a number, or for the code that was sent to it.
func (s *Server) fillNumber(r *http.Request, at *place, data *enrolData) {
	data.Action = at.At("sms") + addSMS(at)
	p := s.open(at.signIn)
	if p.SMS != nil && p.SMS.Factor == "" && p.Number != "" && !r.URL.Query().Has("other") {
		data.Resend, data.Action, data.Number = data.Action, at.At("sms/code")+addSMS(at), p.Number
		data.Restart = at.way("sms") + "&other"
	}
}

// addSMS is what a form's address ends in, so that the answer is a page for text messages again.
func addSMS(at *place) string {
	if at.query != "" {
		return "&add=sms"
	}
	return "?add=sms"
}
