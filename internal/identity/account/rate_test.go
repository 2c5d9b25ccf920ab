package account_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/ent/user"
	"atrium/internal/desk/catalog"
	"atrium/internal/desk/request"
	"atrium/internal/notify/notice"
	"atrium/internal/op"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
)

// The mail of a completion asks how content its requester is. The link needs no sign-in, is the requester's alone, and opening it
// changes nothing.
func TestRate(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		u, r := s.completed()
		s.change(func(ctx context.Context, tx *store.Tx) error {
			return s.mailer.Tell(ctx, tx, u, op.Told{Kind: notice.Progress, Subject: "#1 A laptop", Events: []op.Happening{{Paragraphs: []string{"Completed."}}}, Rate: r.ID})
		})
		mails := s.mails(u.Email)
		require.Len(t, mails, 1)
		_, rest, found := strings.Cut(mails[0].text, "How did we do? Rate it:\n")
		require.True(t, found, mails[0].text)
		link := strings.Fields(rest)[0]
		require.NotContains(t, link, r.ID)

		b := s.browser()
		p := b.get(strings.TrimPrefix(link, origin))
		require.Equal(t, "How did we do?", p.title())
		require.Contains(t, p.html, "#1 A laptop")
		require.Nil(t, s.request(r).Satisfaction)

		action, fields := p.form("satisfaction")
		fields.Del("satisfaction")
		p = b.post(action, fields)
		require.Equal(t, http.StatusUnprocessableEntity, p.StatusCode)
		require.Equal(t, "Choose one of the five.", p.faults())
		p = p.submit("satisfaction", "4", "comment", "Quick.")
		require.Equal(t, "Thank you", p.title())
		require.Equal(t, 4, *s.request(r).Satisfaction)
		require.Equal(t, "Quick.", *s.request(r).SatisfactionComment)

		require.Equal(t, http.StatusNotFound, b.get(strings.TrimPrefix(link[:len(link)-3]+"xxx", origin)).StatusCode)
	})
}

// Whoever writes by mail alone, and has never signed in, rates as well.
func TestRateByMailAlone(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		u, r := s.completed()
		s.change(func(ctx context.Context, tx *store.Tx) error {
			if err := tx.User.UpdateOneID(u.ID).SetStatus(user.StatusInvited).Exec(ctx); err != nil {
				return err
			}
			return s.mailer.Tell(ctx, tx, u, op.Told{Kind: notice.Progress, Subject: "#1 A laptop", Events: []op.Happening{{Paragraphs: []string{"Completed."}}}, Rate: r.ID})
		})
		_, rest, _ := strings.Cut(s.mails(u.Email)[0].text, "How did we do? Rate it:\n")
		p := s.browser().get(strings.TrimPrefix(strings.Fields(rest)[0], origin)).submit("satisfaction", "5", "comment", "")
		require.Equal(t, "Thank you", p.title())
		require.Equal(t, 5, *s.request(r).Satisfaction)
	})
}

// completed files a request of the member, which asks how content they are, and completes it.
func (s *site) completed() (*ent.User, *ent.Request) {
	s.t.Helper()
	owner, u := s.As(s.A, principal.Owner), s.member()
	service := testkit.Run(s.t, s.World, owner, catalog.CreateService, catalog.CreateServiceInput{Name: "IT", Status: new("active")})
	o := testkit.Run(s.t, s.World, owner, catalog.CreateOffering, catalog.CreateOfferingInput{ByID: op.ByID{ID: service.ID}, Name: "Laptop", AskSatisfaction: new(true)})
	r := testkit.Run(s.t, s.World, s.AsUser(u), request.Create, request.CreateInput{ServiceID: service.ID, OfferingID: o.ID, Title: "A laptop"})
	for _, status := range []string{"IN_PROGRESS", "COMPLETED"} {
		r = testkit.Run(s.t, s.World, owner, request.Update, request.UpdateInput{ByID: op.ByID{ID: r.ID}, Status: op.SetTo(status)})
	}
	require.NotNil(s.t, r.SatisfactionAskedAt)
	return u, r
}

// request returns a request as it is now.
func (s *site) request(r *ent.Request) *ent.Request {
	s.t.Helper()
	now, err := s.Store.Reader().Request.Get(s.system(), r.ID)
	require.NoError(s.t, err)
	return now
}
