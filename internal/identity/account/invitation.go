package account

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"atrium/ent"
	"atrium/ent/mailedlink"
	"atrium/ent/user"
	"atrium/internal/identity/pages"
	"atrium/internal/identity/signin"
	"atrium/internal/op/audit"
	"atrium/internal/people"
	"atrium/internal/platform/locale"
	"atrium/internal/platform/store"
)

var inviteAgain = again{text: locale.Say("If you have already accepted the invitation, sign in. Otherwise, ask the person who invited you to send it again.")}

// invitation is a valid link with its recipient.
type invitation struct {
	link    *ent.MailedLink
	token   string
	user    *ent.User
	account *ent.Account
	company string
}

// invitation finds the request's invitation. If there is none, or the user is no longer invited, it answers the request
// and returns nil.
func (s *Server) invitation(w http.ResponseWriter, r *http.Request) *invitation {
	in, err := s.findInvitation(r)
	if err != nil {
		s.deadLink(w, r, err, inviteAgain)
		return nil
	}
	return in
}

func (s *Server) findInvitation(r *http.Request) (*invitation, error) {
	in := &invitation{}
	var err error
	if in.link, in.token, err = s.link(r, mailedlink.KindInvitation); err != nil {
		return nil, err
	}
	ctx := s.system(r.Context())
	in.user, err = s.store.Reader().User.Query().Where(user.ID(*in.link.UserID), user.StatusEQ(user.StatusInvited)).Only(ctx)
	if ent.IsNotFound(err) {
		return nil, errLink
	}
	if err != nil {
		return nil, fmt.Errorf("read the invited user: %w", err)
	}
	c, err := s.store.Reader().Company.Get(ctx, in.user.CompanyID)
	if err != nil {
		return nil, fmt.Errorf("read the company: %w", err)
	}
	in.company = c.Name
	in.account, err = s.account(ctx, in.user.AccountID)
	return in, err
}

// showInvitation asks a newcomer for name and password, and a person with a password to sign in.
func (s *Server) showInvitation(w http.ResponseWriter, r *http.Request) {
	in := s.invitation(w, r)
	if in == nil {
		return
	}
	if in.account.PasswordHash != "" {
		back := pathAccept + "?token=" + in.token
		s.Message(w, r, http.StatusOK, locale.Say("You are invited to %s", in.company),
			locale.Say("Your account %s is there already. Sign in to accept the invitation.", in.account.Email),
			pages.Link{Text: locale.Say("Sign in"), To: signin.PathSignIn + "?return=" + url.QueryEscape(back)})
		return
	}
	s.invitationPage(w, r, http.StatusOK, in, pages.Page{Values: url.Values{"name": {in.user.Name}}})
}

func (s *Server) invitationPage(w http.ResponseWriter, r *http.Request, status int, in *invitation, p pages.Page) {
	p.Body, p.Title = "welcome", locale.Say("You are invited to %s", in.company)
	p.Intro = locale.Say("Tell us your name and choose a password to accept.")
	p.Data = tokenForm{Token: in.token, Email: in.account.Email, Company: in.company, Password: true}
	s.Render(w, r, status, p)
}

// postInvitation makes the newcomer an active user with the form's name and password.
func (s *Server) postInvitation(w http.ResponseWriter, r *http.Request) {
	in := s.invitation(w, r)
	if in == nil {
		return
	}
	if in.account.PasswordHash != "" { // set since the page was shown
		http.Redirect(w, r, pathInvitation+"?token="+in.token, http.StatusSeeOther)
		return
	}
	values := url.Values{"name": {r.PostFormValue("name")}}
	name := line(r.PostFormValue("name"), 200)
	if !r.PostForm.Has("name") {
		name = in.user.Name
	}
	if name == "" {
		s.invitationPage(w, r, http.StatusUnprocessableEntity, in, pages.Page{Values: values, Faults: map[string]locale.Text{"name": locale.Say("Enter your name, in 200 characters at most.")}})
		return
	}
	hash, ok := s.choose(w, r, in.account, []string{name}, func(status int, p pages.Page) {
		p.Values = values
		s.invitationPage(w, r, status, in, p)
	})
	if !ok {
		return
	}
	err := s.write(r.Context(), func(ctx context.Context, tx *store.Tx) error {
		if err := s.setPassword(ctx, tx, in.account, hash); err != nil {
			return err
		}
		return s.accept(ctx, tx, w, r, in, name)
	})
	if err != nil {
		s.deadLink(w, r, err, inviteAgain)
		return
	}
	s.Message(w, r, http.StatusOK, locale.Say("Welcome to %s", in.company), locale.Say("Your account is ready. Sign in with your e-mail address and your password."), s.home())
}

// accept invalidates the invitation and makes its user active, under the name if there is one. Returns errLink when the
// user is no longer invited.
func (s *Server) accept(ctx context.Context, tx *store.Tx, w http.ResponseWriter, r *http.Request, in *invitation, name string) error {
	if err := use(ctx, tx, in.link); err != nil {
		return err
	}
	if err := people.Prove(ctx, tx, in.account.ID); err != nil {
		return err
	}
	changes := map[string]audit.Change{"status": changed(user.StatusInvited, user.StatusActive)}
	if name != "" && name != in.user.Name {
		changes["name"] = changed(in.user.Name, name)
		in.user.Name = name
	}
	accepted, err := people.Accept(ctx, tx, in.user, name)
	if err != nil {
		return fmt.Errorf("accept the invitation: %w", err)
	}
	if !accepted {
		return errLink
	}
	return signin.AuditUser(ctx, tx, w, r, in.user, "user.updated", changes)
}

// showAccept asks a signed-in person whether to accept.
func (s *Server) showAccept(w http.ResponseWriter, r *http.Request) {
	if in := s.ownInvitation(w, r); in != nil {
		s.Render(w, r, http.StatusOK, pages.Page{
			Body: "accept", Title: locale.Say("You are invited to %s", in.company), Data: tokenForm{Token: in.token, Email: in.account.Email, Company: in.company},
		})
	}
}

// postAccept accepts the invitation.
func (s *Server) postAccept(w http.ResponseWriter, r *http.Request) {
	in := s.ownInvitation(w, r)
	if in == nil {
		return
	}
	err := s.write(r.Context(), func(ctx context.Context, tx *store.Tx) error { return s.accept(ctx, tx, w, r, in, "") })
	if err != nil {
		s.deadLink(w, r, err, inviteAgain)
		return
	}
	s.Message(w, r, http.StatusOK, locale.Say("Welcome to %s", in.company), locale.Say("You have accepted the invitation."), s.home())
}

// ownInvitation is invitation for the signed-in account.
func (s *Server) ownInvitation(w http.ResponseWriter, r *http.Request) *invitation {
	in := s.invitation(w, r)
	if in == nil {
		return nil
	}
	row, _ := s.signedIn(w, r, pathAccept+"?token="+in.token)
	if row == nil {
		return nil
	}
	if row.AccountID != in.account.ID {
		s.notYours(w, r)
		return nil
	}
	return in
}

// notYours answers a request with another account's link.
func (s *Server) notYours(w http.ResponseWriter, r *http.Request) {
	s.Message(w, r, http.StatusForbidden, locale.Say("This link is for another account"), locale.Say("You are signed in with another account than the one that the link was mailed for. Sign out first, then open the link again."),
		pages.Link{Text: locale.Say("Your account"), To: pathAccount})
}
