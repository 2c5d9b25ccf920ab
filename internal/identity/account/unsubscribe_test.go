package account_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/ent/auditentry"
	"atrium/ent/reportsubscription"
	"atrium/ent/user"
	"atrium/internal/desk/reportmail"
	"atrium/internal/notify/notice"
	"atrium/internal/op"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
)

// A mail that tells what not everybody may read who reads the request refers to its notes, and says to staff that an answer is one.
func TestMailsOfNotesSaySo(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		s.answers = func(_ context.Context, _ *ent.Client, u *ent.User, about string, note bool) (string, error) {
			require.Equal(t, "req_1", about)
			return map[bool]string{true: "desk+note@a.test", false: "desk+public@a.test"}[note], nil
		}
		for role, says := range map[principal.Role]bool{principal.Agent: true, principal.Member: false} {
			u := s.A.Users[role]
			for _, note := range []bool{true, false} {
				s.change(func(ctx context.Context, tx *store.Tx) error {
					return s.mailer.Tell(ctx, tx, u, op.Told{Kind: notice.Progress, Subject: "#7 A laptop", Events: []op.Happening{{Paragraphs: []string{"Ada wrote."}}}, Thread: "req_1", Note: note})
				})
			}
			mails := s.mails(u.Email)
			require.Len(t, mails, 2)
			for _, m := range mails {
				note := m.Get("Reply-To") == "<desk+note@a.test>"
				require.Equal(t, note, strings.Contains(m.Get("References"), "<req_1.note@"), m.Get("References"))
				require.Regexp(t, "^<req_1@", m.Get("References"), "one thread")
				require.Equal(t, note && says, strings.Contains(m.text, "write your answer above this line —\n\nYour answer will be an internal note that staff alone read.\n"), m.text)
				require.Equal(t, note && says, strings.Contains(m.text, ">Your answer will be an internal note that staff alone read.</p>"))
			}
		}
	})
}

// Mails about what began with a mail of their reader's answer that mail.
func TestMailsAnswerWhatBegan(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		s.began = "1@mail.example"
		u := s.member()
		s.change(func(ctx context.Context, tx *store.Tx) error {
			return s.mailer.Tell(ctx, tx, u, op.Told{Kind: notice.Progress, Subject: "#7 A laptop", Events: []op.Happening{{Paragraphs: []string{"Ada wrote."}}}, Thread: "req_1"})
		})
		m := s.mails(u.Email)[0]
		require.Equal(t, "<1@mail.example>", m.Get("In-Reply-To"))
		require.Regexp(t, "^<1@mail.example> <req_1@", m.Get("References"))
	})
}

// A mail's link switches its kind off by one POST without a sign-in (RFC 8058); who opens it is asked first.
func TestUnsubscribe(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		u := s.member()
		s.change(func(ctx context.Context, tx *store.Tx) error {
			return s.mailer.Tell(ctx, tx, u, op.Told{
				Kind: notice.Mention, Subject: "#7 A laptop", Events: []op.Happening{{Paragraphs: []string{"Ada mentioned you."}, Quote: "Is it <b>here</b>?\nSince when?"}}, Page: "/requests/req_1", Thread: "req_1",
			})
		})
		mails := s.mails(u.Email)
		require.Len(t, mails, 1)
		require.Equal(t, "List-Unsubscribe=One-Click", mails[0].Get("List-Unsubscribe-Post"))
		require.Equal(t, "#7 A laptop", mails[0].Get("Subject"))
		require.Regexp(t, `^<req_1@.+>$`, mails[0].Get("References"))
		require.Equal(t, mails[0].Get("References"), mails[0].Get("In-Reply-To"))
		require.Contains(t, mails[0].text, "Ada mentioned you.\n\n> Is it <b>here</b>?\n> Since when?\n\nOpen it in Atrium:\n"+origin+"/app/requests/req_1\n")
		link := strings.Trim(mails[0].Get("List-Unsubscribe"), "<>")
		require.Contains(t, mails[0].text, link)
		require.NotContains(t, link, u.ID)

		p := s.browser().get(strings.TrimPrefix(link, origin))
		require.Equal(t, "No more mails of this kind", p.title())
		require.Empty(t, s.user(u).Notifications, "a link that is only opened changes nothing")

		post := func(link string) int {
			resp, err := s.srv.Client().PostForm(link, url.Values{"List-Unsubscribe": {"One-Click"}})
			require.NoError(t, err)
			require.NoError(t, resp.Body.Close())
			return resp.StatusCode
		}
		require.Equal(t, http.StatusNotFound, post(link[:len(link)-2]+"xx"))
		require.Empty(t, s.user(u).Notifications)
		for range 2 {
			require.Equal(t, http.StatusOK, post(link))
			require.Equal(t, map[string]string{notice.Mention: "never"}, s.user(u).Notifications)
		}
		require.Contains(t, p.html, `action="/notifications/unsubscribe?token=`)
	})
}

// The link in the mail of a report ends that report alone, by one POST without a sign-in, whatever its reader may do by then.
func TestUnsubscribeFromAReport(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		u := s.A.Users[principal.Agent]
		first := testkit.Run(t, s.World, s.AsUser(u), reportmail.Create, reportmail.CreateInput{Name: "Desk"})
		other := testkit.Run(t, s.World, s.AsUser(u), reportmail.Create, reportmail.CreateInput{Name: "Field"})
		s.change(func(ctx context.Context, tx *store.Tx) error {
			if err := tx.User.UpdateOneID(u.ID).SetRole(user.RoleMember).Exec(ctx); err != nil {
				return err
			}
			return s.mailer.Tell(ctx, tx, u, op.Told{Kind: first.ID, Subject: "Weekly report: Desk", Events: []op.Happening{{Paragraphs: []string{"Submitted: 2 (1)"}}}, Page: "/figures"})
		})
		mails := s.mails(u.Email)
		require.Len(t, mails, 1)
		require.Equal(t, "List-Unsubscribe=One-Click", mails[0].Get("List-Unsubscribe-Post"))
		link := strings.Trim(mails[0].Get("List-Unsubscribe"), "<>")
		p := s.browser().get(strings.TrimPrefix(link, origin))
		require.Contains(t, p.html, "The report stays on the page Reports in Atrium.")
		left := func() []string {
			ids, err := s.Store.Reader().ReportSubscription.Query().Order(ent.Asc(reportsubscription.FieldCreatedAt)).IDs(s.system())
			require.NoError(t, err)
			return ids
		}
		require.Equal(t, []string{first.ID, other.ID}, left(), "a link that is only opened changes nothing")
		for range 2 {
			resp, err := s.srv.Client().PostForm(link, url.Values{"List-Unsubscribe": {"One-Click"}})
			require.NoError(t, err)
			require.NoError(t, resp.Body.Close())
			require.Equal(t, http.StatusOK, resp.StatusCode)
			require.Equal(t, []string{other.ID}, left())
		}
		require.Empty(t, s.user(u).Notifications)
		ended, err := s.Store.Reader().AuditEntry.Query().Where(auditentry.Action("reportsubscription.deleted"), auditentry.ActorID(u.ID)).Count(s.system())
		require.NoError(t, err)
		require.Equal(t, 1, ended)
	})
}
