package account

import (
	"context"
	"net/http"

	"atrium/internal/desk/reportmail"
	"atrium/internal/identity/pages"
	"atrium/internal/notify/notice"
	"atrium/internal/platform/locale"
	"atrium/internal/platform/store"
)

// unsubscribing is the additional data under which links' tokens are sealed, so that nothing else that is sealed passes as
// one.
const unsubscribing = "unsubscribe"

// unsubscription says which mails a link switches off: those of a kind, or of the subscription with the id that stands for it.
type unsubscription struct{ company, user, kind string }

// unsubscribeForm is the data of the page.
type unsubscribeForm struct {
	Token  string
	Report bool // the mails are those of one report, not notices
}

// readUnsubscription reads the token of a link; false if it is invalid.
func (s *Server) readUnsubscription(token string) (u unsubscription, ok bool) {
	company, user, kind, ok := s.mails.unseal(token, unsubscribing)
	return unsubscription{company, user, kind}, ok
}

// showUnsubscribe asks before it switches anything off, because programs that check mails follow links.
func (s *Server) showUnsubscribe(w http.ResponseWriter, r *http.Request) {
	token := r.URL.Query().Get("token")
	u, ok := s.readUnsubscription(token)
	if !ok {
		s.brokenLink(w, r)
		return
	}
	form := unsubscribeForm{token, reportmail.Mails(u.kind)}
	s.Render(w, r, http.StatusOK, pages.Page{Body: "unsubscribe", Title: locale.Say("No more mails of this kind"), Data: form})
}

// postUnsubscribe switches the mails of a kind off. As in RFC 8058 it needs no cookie and no sign-in: mail programs send it,
// and the token is the permission. Repeating it changes nothing.
func (s *Server) postUnsubscribe(w http.ResponseWriter, r *http.Request) {
	u, ok := s.readUnsubscription(r.URL.Query().Get("token"))
	if !ok {
		s.brokenLink(w, r)
		return
	}
	more, err := s.switchOff(r.Context(), u)
	if err != nil {
		s.Broken(w, r, err)
		return
	}
	s.Message(w, r, http.StatusOK, locale.Say("You will get no more mails of this kind"), more, s.home())
}

// switchOff ends the mails of a kind, or those of one report. It returns where they are switched on again.
func (s *Server) switchOff(ctx context.Context, u unsubscription) (locale.Text, error) {
	if reportmail.Mails(u.kind) {
		return locale.Say("You can have the report mailed again on the page Reports in Atrium."), reportmail.End(ctx, s.engine, u.company, u.user, u.kind)
	}
	return locale.Say("You still see your notifications in Atrium. You can turn the mails on again in its settings."),
		s.store.Write(s.system(ctx), func(ctx context.Context, tx *store.Tx) error { return notice.SwitchOff(ctx, tx, u.user, u.kind) })
}

// brokenLink answers a link of a mail whose token is no token.
func (s *Server) brokenLink(w http.ResponseWriter, r *http.Request) {
	s.Message(w, r, http.StatusNotFound, locale.Say("There is no such page"), locale.Say("The link is incomplete. Open it from the mail again."), s.home())
}
