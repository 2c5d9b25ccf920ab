package account

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"atrium/ent"
	"atrium/ent/mailedlink"
	"atrium/internal/identity/pages"
	"atrium/internal/identity/signin"
	"atrium/internal/op/audit"
	"atrium/internal/people"
	"atrium/internal/platform/locale"
	"atrium/internal/platform/store"
	"atrium/internal/platform/text"
)

var emailAgain = again{locale.Say("Ask for a new one if you still want to change your e-mail address."), pages.Link{Text: locale.Say("Ask for a new link"), To: pathEmail}}

// newEmail is the data of the link that changes an address.
type newEmail struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// showEmail asks for the new address.
func (s *Server) showEmail(w http.ResponseWriter, r *http.Request) {
	if _, acc := s.signedIn(w, r, pathEmail); acc != nil {
		s.emailPage(w, r, http.StatusOK, acc, pages.Page{})
	}
}

func (s *Server) emailPage(w http.ResponseWriter, r *http.Request, status int, acc *ent.Account, p pages.Page) {
	p.Body, p.Title, p.Data = "email", locale.Say("Change your e-mail address"), acc.Email
	p.Intro = locale.Say("We will send a link to the new address. Your account changes when you open it.")
	s.Render(w, r, status, p)
}

// postEmail mails a link to the new address, and notifies the old one. Before the new address is confirmed, nobody is
// told whether it has an account.
func (s *Server) postEmail(w http.ResponseWriter, r *http.Request) {
	row, acc := s.signedIn(w, r, pathEmail)
	if row == nil {
		return
	}
	refuse := func(fault locale.Text) {
		s.emailPage(w, r, http.StatusUnprocessableEntity, acc, pages.Page{
			Faults: map[string]locale.Text{"email": fault}, Values: url.Values{"email": {line(r.PostFormValue("email"), text.MaxEmail)}},
		})
	}
	email := address(r.PostFormValue("email"))
	switch email {
	case "":
		refuse(locale.Say("Enter an e-mail address."))
		return
	case acc.Email:
		refuse(locale.Say("This is your e-mail address already."))
		return
	}
	wait, err := s.askEmail(r, acc, email)
	switch {
	case err != nil:
		s.Broken(w, r, err)
	case wait > 0:
		s.tooMany(w, r, wait)
	default:
		s.Message(w, r, http.StatusOK, locale.Say("Check your new mailbox"), locale.Say("A link is on its way to the new address. Open it in this browser within an hour."), pages.Link{Text: locale.Say("Your account"), To: pathAccount})
	}
}

// askEmail counts the request and mails the link; it invalidates links for other addresses.
func (s *Server) askEmail(r *http.Request, acc *ent.Account, email string) (wait time.Duration, err error) {
	filled, err := json.Marshal(newEmail{From: acc.Email, To: email})
	if err != nil {
		return 0, fmt.Errorf("write the new address: %w", err)
	}
	return s.throttle.Mail(r, "email_change", email, func(ctx context.Context, tx *store.Tx, enough bool) error {
		if enough {
			return nil
		}
		if err := kill(ctx, tx, acc.ID, mailedlink.KindEmailChange); err != nil {
			return err
		}
		token, err := newLink(ctx, tx, mailedlink.KindEmailChange, func(m *ent.MailedLinkCreate) { m.SetAccountID(acc.ID).SetData(filled) })
		if err != nil {
			return err
		}
		return s.mails.confirmEmail(ctx, tx, acc, email, token)
	})
}

// showConfirmEmail shows the button that changes the address. Only the account that requested the change may use the
// link: otherwise an attacker could get somebody else's mailbox confirmed for an account of their own.
func (s *Server) showConfirmEmail(w http.ResponseWriter, r *http.Request) {
	if row, _, change, token := s.emailLink(w, r); row != nil {
		s.Render(w, r, http.StatusOK, pages.Page{
			Body: "confirm-email", Title: locale.Say("Change your e-mail address"), Intro: locale.Say("Your account is to use %s from now on.", change.To),
			Data: tokenForm{Token: token, Email: change.To},
		})
	}
}

// emailLink finds the request's link for the signed-in account. If there is none, it answers the request and returns nil.
func (s *Server) emailLink(w http.ResponseWriter, r *http.Request) (row *ent.MailedLink, acc *ent.Account, change newEmail, token string) {
	row, token, err := s.link(r, mailedlink.KindEmailChange)
	if err == nil {
		err = data(row, &change)
	}
	if err != nil {
		s.deadLink(w, r, err, emailAgain)
		return nil, nil, change, ""
	}
	in, acc := s.signedIn(w, r, pathConfirmEmail+"?token="+token)
	if in == nil {
		return nil, nil, change, ""
	}
	if in.AccountID != *row.AccountID {
		s.notYours(w, r)
		return nil, nil, change, ""
	}
	return row, acc, change, token
}

// postConfirmEmail changes the address of the account and of its active users together.
func (s *Server) postConfirmEmail(w http.ResponseWriter, r *http.Request) {
	row, acc, change, _ := s.emailLink(w, r)
	if row == nil {
		return
	}
	err := s.write(r.Context(), func(ctx context.Context, tx *store.Tx) error {
		if err := use(ctx, tx, row); err != nil {
			return err
		}
		moved, err := people.Readdress(ctx, tx, acc.ID, change.From, change.To)
		if err != nil {
			return err
		}
		if !moved {
			return errLink
		}
		if err := kill(ctx, tx, acc.ID, mailedlink.KindPasswordReset, mailedlink.KindEmailChange); err != nil {
			return err
		}
		changes := map[string]audit.Change{"email": changed(change.From, change.To)}
		if err := signin.AuditAccount(ctx, tx, w, r, acc.ID, "user.email_changed", changes); err != nil {
			return err
		}
		return s.mails.emailChanged(ctx, tx, acc.ID, change.From, change.To)
	})
	if store.IsUnique(err) {
		s.Message(w, r, http.StatusConflict, locale.Say("The address is in use"),
			locale.Say("Another account signs in with %s. Your account stays as it is.", change.To), pages.Link{Text: locale.Say("Your account"), To: pathAccount})
		return
	}
	if err != nil {
		s.deadLink(w, r, err, emailAgain)
		return
	}
	s.Message(w, r, http.StatusOK, locale.Say("Your e-mail address is changed"),
		locale.Say("From now on you sign in with %s.", change.To), pages.Link{Text: locale.Say("Your account"), To: pathAccount})
}
