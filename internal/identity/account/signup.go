package account

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"atrium/ent"
	"atrium/ent/account"
	"atrium/ent/mailedlink"
	"atrium/internal/gate"
	"atrium/internal/identity/pages"
	"atrium/internal/people/company"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/locale"
	"atrium/internal/platform/store"
	"atrium/internal/platform/text"
)

var signUpAgain = again{locale.Say("Begin again if you still want to create a company."), pages.Link{Text: locale.Say("Create a company"), To: pathSignUp}}

// signUpPlan is the plan of new companies.
const signUpPlan = "free"

// showSignUp asks for the company's name and the owner's address.
func (s *Server) showSignUp(w http.ResponseWriter, r *http.Request) {
	s.signUpPage(w, r, http.StatusOK, pages.Page{})
}

func (s *Server) signUpPage(w http.ResponseWriter, r *http.Request, status int, p pages.Page) {
	p.Body, p.Title, p.Intro = "signup", locale.Say("Create a company"), locale.Say("We will send you a link to continue.")
	s.Render(w, r, status, p)
}

// postSignUp gives everybody the same answer, whether the address has an account or not.
func (s *Server) postSignUp(w http.ResponseWriter, r *http.Request) {
	name, email := line(r.PostFormValue("company"), 200), address(r.PostFormValue("email"))
	faults := map[string]locale.Text{}
	if name == "" || len(name) > 200 {
		faults["company"] = locale.Say("Enter the company's name, in 200 characters at most.")
	}
	if email == "" {
		faults["email"] = locale.Say("Enter an e-mail address.")
	}
	if len(faults) > 0 {
		s.signUpPage(w, r, http.StatusUnprocessableEntity, pages.Page{Faults: faults, Values: url.Values{
			"company": {line(r.PostFormValue("company"), 400)}, "email": {line(r.PostFormValue("email"), text.MaxEmail)},
		}})
		return
	}
	s.answerAsk(w, r, ask{Kind: askSignUp, Email: email, Company: name}, locale.Say("A link is on its way to you. It works for a day."))
}

// opening is a valid link of a sign-up with its data.
type opening struct {
	signUp
	link    *ent.MailedLink
	token   string
	account *ent.Account // with an empty id if the address has no account yet
}

// opening finds the request's sign-up. If there is none, it answers the request and returns nil.
func (s *Server) opening(w http.ResponseWriter, r *http.Request) *opening {
	o, err := s.findOpening(r)
	if err != nil {
		s.deadLink(w, r, err, signUpAgain)
		return nil
	}
	return o
}

func (s *Server) findOpening(r *http.Request) (*opening, error) {
	o := &opening{}
	var err error
	if o.link, o.token, err = s.link(r, mailedlink.KindSignUp); err != nil {
		return nil, err
	}
	if err := data(o.link, &o.signUp); err != nil {
		return nil, err
	}
	o.account, err = s.store.Reader().Account.Query().Where(account.Email(o.Email)).Only(s.system(r.Context()))
	if ent.IsNotFound(err) {
		o.account, err = &ent.Account{Email: o.Email}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look the account up: %w", err)
	}
	return o, nil
}

// showConfirm asks for the owner's name, and for a password if the address has none yet.
func (s *Server) showConfirm(w http.ResponseWriter, r *http.Request) {
	if o := s.opening(w, r); o != nil {
		s.confirmPage(w, r, http.StatusOK, o, pages.Page{})
	}
}

func (s *Server) confirmPage(w http.ResponseWriter, r *http.Request, status int, o *opening, p pages.Page) {
	p.Body, p.Title = "welcome", locale.Say("Create %s", o.Company)
	p.Intro = locale.Say("Tell us your name and choose a password.")
	fresh := o.account.PasswordHash == ""
	if !fresh {
		p.Intro = locale.Say("Tell us your name. You sign in with the password that you have.")
	}
	p.Data = tokenForm{Token: o.token, Email: o.Email, Company: o.Company, Password: fresh}
	s.Render(w, r, status, p)
}

// postConfirm opens the company. The link proves the mailbox, so the account's password is not needed; it signs nobody
// in.
func (s *Server) postConfirm(w http.ResponseWriter, r *http.Request) {
	o := s.opening(w, r)
	if o == nil {
		return
	}
	values := url.Values{"name": {r.PostFormValue("name")}}
	name := line(r.PostFormValue("name"), 200)
	if name == "" {
		s.confirmPage(w, r, http.StatusUnprocessableEntity, o, pages.Page{Values: values, Faults: map[string]locale.Text{"name": locale.Say("Enter your name, in 200 characters at most.")}})
		return
	}
	hash := ""
	if o.account.PasswordHash == "" {
		var ok bool
		hash, ok = s.choose(w, r, o.account, []string{name, o.Company}, func(status int, p pages.Page) {
			p.Values = values
			s.confirmPage(w, r, status, o, p)
		})
		if !ok {
			return
		}
	}
	from, lang := gate.Origin(w, r), s.Printer(r).Language
	if lang == locale.English { // which holds without a choice
		lang = ""
	}
	_, err := company.Create(r.Context(), s.store, company.CreateInput{
		Name: o.Company, Plan: signUpPlan, OwnerEmail: o.Email, OwnerName: name,
		SignUp: &company.SignUp{PasswordHash: hash, Locale: lang, IP: from.IP, UserAgent: from.UserAgent, RequestID: from.RequestID},
		Within: func(ctx context.Context, tx *store.Tx, _ *company.Created) error { return use(ctx, tx, o.link) },
	})
	if code := apperr.CodeOf(err); err != nil && (code == apperr.Conflict || code == apperr.Forbidden) {
		s.confirmPage(w, r, http.StatusConflict, o, pages.Page{Values: values, Error: locale.Known(apperr.From(err).Message)})
		return
	}
	if err != nil {
		s.deadLink(w, r, err, signUpAgain)
		return
	}
	s.Message(w, r, http.StatusOK, locale.Say("%s is ready", o.Company), locale.Say("Sign in with your e-mail address and your password."), s.home())
}
