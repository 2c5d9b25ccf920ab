package account

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"atrium/internal/identity/pages"
	"atrium/internal/platform/locale"
	"atrium/internal/platform/store"
	"atrium/internal/platform/text"
)

// showForgot asks for the address of the account with the forgotten password.
func (s *Server) showForgot(w http.ResponseWriter, r *http.Request) {
	s.forgotPage(w, r, http.StatusOK, pages.Page{})
}

func (s *Server) forgotPage(w http.ResponseWriter, r *http.Request, status int, p pages.Page) {
	p.Body, p.Title, p.Intro = "forgot", locale.Say("Set a new password"), locale.Say("We will send you a link to set a new password.")
	s.Render(w, r, status, p)
}

// postForgot gives everybody the same answer.
func (s *Server) postForgot(w http.ResponseWriter, r *http.Request) {
	email := address(r.PostFormValue("email"))
	if email == "" {
		s.forgotPage(w, r, http.StatusUnprocessableEntity, pages.Page{
			Faults: map[string]locale.Text{"email": locale.Say("Enter an e-mail address.")}, Values: url.Values{"email": {line(r.PostFormValue("email"), text.MaxEmail)}},
		})
		return
	}
	s.answerAsk(w, r, ask{Kind: askReset, Email: email},
		locale.Say("If the address belongs to an account, a link is on its way to it. It works for 30 minutes."))
}

// answerAsk counts and queues a request, and asks the person to look into the mailbox.
func (s *Server) answerAsk(w http.ResponseWriter, r *http.Request, a ask, text locale.Text) {
	a.Locale = s.Printer(r).Language
	wait, err := s.throttle.Mail(r, a.Kind, a.Email, func(ctx context.Context, tx *store.Tx, enough bool) error {
		if a.Enough = enough; enough && a.Kind != askReset {
			return nil
		}
		return s.mails.ask(ctx, tx, a)
	})
	switch {
	case err != nil:
		s.Broken(w, r, err)
	case wait > 0:
		s.tooMany(w, r, wait)
	default:
		s.Message(w, r, http.StatusOK, locale.Say("Check your mailbox"),
			locale.Say("%s If nothing arrives, look in your spam folder, or try again later.", text), pages.Link{})
	}
}

// tooMany asks the person to come again later.
func (s *Server) tooMany(w http.ResponseWriter, r *http.Request, wait time.Duration) {
	pages.RetryAfter(w, wait)
	s.Message(w, r, http.StatusTooManyRequests, locale.Say("Too many requests"),
		locale.Say("There were too many attempts from your network. Try again %s.", inWords(wait)), pages.Link{})
}
