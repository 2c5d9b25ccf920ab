package account

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"atrium/ent"
	"atrium/ent/mailedlink"
	"atrium/internal/identity/pages"
	"atrium/internal/platform/clock"
	"atrium/internal/platform/locale"
	"atrium/internal/platform/store"
)

// lives is how long the links of each kind are valid.
var lives = map[mailedlink.Kind]time.Duration{
	mailedlink.KindPasswordReset: 30 * time.Minute,
	mailedlink.KindEmailChange:   time.Hour,
	mailedlink.KindSignUp:        24 * time.Hour,
	mailedlink.KindInvitation:    7 * 24 * time.Hour,
}

// errLink is returned for a link that is unknown, used, expired or invalidated; nobody is told which.
var errLink = errors.New("account: the link is not good any more")

// newLink creates a link of the kind, and returns the token for its address. fill sets its recipient.
func newLink(ctx context.Context, tx *store.Tx, kind mailedlink.Kind, fill func(*ent.MailedLinkCreate)) (token string, err error) {
	token, hash := pages.NewToken()
	c := tx.MailedLink.Create().SetKind(kind).SetTokenHash(hash).SetExpiresAt(clock.From(ctx).Now().Add(lives[kind]))
	fill(c)
	if err := c.Exec(ctx); err != nil {
		return "", fmt.Errorf("make a link: %w", err)
	}
	return token, nil
}

// link finds the valid link of a request, in its address or its form. Returns errLink when there is none.
func (s *Server) link(r *http.Request, kind mailedlink.Kind) (row *ent.MailedLink, token string, err error) {
	token = r.FormValue("token")
	hash := pages.TokenHash(token)
	if hash == nil {
		return nil, "", errLink
	}
	row, err = s.store.Reader().MailedLink.Query().
		Where(mailedlink.TokenHash(hash), mailedlink.KindEQ(kind), mailedlink.UsedAtIsNil(), mailedlink.ExpiresAtGT(s.now())).
		Only(s.system(r.Context()))
	if ent.IsNotFound(err) {
		return nil, "", errLink
	}
	if err != nil {
		return nil, "", fmt.Errorf("look the link up: %w", err)
	}
	return row, token, nil
}

// use marks a link as used, in the transaction of the change that it allows. If several try at once, one succeeds
// and the others get errLink.
func use(ctx context.Context, tx *store.Tx, row *ent.MailedLink) error {
	now := clock.From(ctx).Now()
	n, err := tx.MailedLink.Update().
		Where(mailedlink.ID(row.ID), mailedlink.UsedAtIsNil(), mailedlink.ExpiresAtGT(now)).SetUsedAt(now).Save(ctx)
	if err != nil {
		return fmt.Errorf("use the link up: %w", err)
	}
	if n != 1 {
		return errLink
	}
	return nil
}

// kill invalidates the account's links of the kinds.
func kill(ctx context.Context, tx *store.Tx, accountID string, kinds ...mailedlink.Kind) error {
	err := tx.MailedLink.Update().Where(mailedlink.AccountID(accountID), mailedlink.KindIn(kinds...), mailedlink.UsedAtIsNil()).
		SetUsedAt(clock.From(ctx).Now()).Exec(ctx)
	if err != nil {
		return fmt.Errorf("end the account's links: %w", err)
	}
	return nil
}

// again tells the person how to continue after an invalid link.
type again struct {
	text locale.Text
	link pages.Link // empty for the web application
}

// deadLink answers a request with an invalid link, or an error of the look-up.
func (s *Server) deadLink(w http.ResponseWriter, r *http.Request, err error, on again) {
	if !errors.Is(err, errLink) {
		s.Broken(w, r, err)
		return
	}
	if on.link.To == "" {
		on.link = s.home()
	}
	s.Message(w, r, http.StatusGone, locale.Say("This link is no longer valid"),
		locale.Say("It was used already, is too old, or a newer one has taken its place. %s", on.text), on.link)
}

// data reads a link's data.
func data(row *ent.MailedLink, into any) error {
	if err := json.Unmarshal(row.Data, into); err != nil {
		return fmt.Errorf("read the link's data: %w", err)
	}
	return nil
}
