package mail_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/emersion/go-smtp"
	"github.com/stretchr/testify/require"

	"atrium/ent/account"
	"atrium/ent/user"
	"atrium/internal/notify/mail"
	"atrium/internal/platform/jobs"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
)

// A mail is sent if and only if its transaction commits. Until it is sent it is encrypted in the database.
func TestMailIsPartOfTheTransaction(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		dir := filepath.Join(t.TempDir(), "outbox")
		sender, err := mail.Open(mail.Options{Dir: dir})
		require.NoError(t, err)
		queue, err := jobs.New(w.Store, slog.New(slog.DiscardHandler), true, mail.Work(w.Store, sender, w.Engine.Sealer))
		require.NoError(t, err)
		box := mail.NewOutbox(queue, w.Engine.Sealer)
		undo := errors.New("undo")
		enqueue := func(subject string, end error) error {
			return w.Store.Write(w.As(w.A, principal.Owner), func(ctx context.Context, tx *store.Tx) error {
				if err := box.Enqueue(ctx, tx, mail.Message{To: "ada@x.test", Subject: subject, Text: "https://x.test/?token=secret\n"}); err != nil {
					return err
				}
				return end
			})
		}
		require.ErrorIs(t, enqueue("Never", undo), undo)
		require.NoError(t, enqueue("Once", nil))
		require.Error(t, enqueue("Injected\nBcc: eve@x.test", nil))
		held := w.Query(t, "SELECT CAST(args AS TEXT) FROM river_job WHERE kind = 'mail'")
		require.Len(t, held, 1)
		for _, secret := range []string{"secret", "ada@x.test", "Once"} {
			require.NotContains(t, held[0], secret)
		}

		stop := testkit.RunQueue(t, queue)
		var files []string
		require.Eventually(t, func() bool {
			files, err = filepath.Glob(filepath.Join(dir, "*.eml"))
			return err == nil && len(files) > 0
		}, 30*time.Second, 20*time.Millisecond)
		stop()
		require.Len(t, files, 1)
		text, err := os.ReadFile(files[0])
		require.NoError(t, err)
		require.Contains(t, string(text), "Subject: Once\r\n")
	})
}

// However many mails one company has in the queue, one of another company waits for those of a minute's share at most. Mails of a
// company are sent in the order in which they were written, and none is lost.
func TestACompanysMailsDoNotHoldUpOthers(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		sender, err := mail.Open(mail.Options{Dir: t.TempDir()})
		require.NoError(t, err)
		queue, err := jobs.New(w.Store, slog.New(slog.DiscardHandler), true, mail.Work(w.Store, sender, w.Engine.Sealer))
		require.NoError(t, err)
		box := mail.NewOutbox(queue, w.Engine.Sealer)
		enqueue := func(from *testkit.Tenant, n int) {
			require.NoError(t, w.Store.Write(w.As(from, principal.Owner), func(ctx context.Context, tx *store.Tx) error {
				for range n {
					if err := box.Enqueue(ctx, tx, mail.Message{To: "ada@x.test", Subject: "Hello", Text: "Hello\n"}); err != nil {
						return err
					}
				}
				return nil
			}))
		}
		enqueue(w.A, 4*mail.PerMinute)
		enqueue(w.B, 1)
		last := w.Query(t, "SELECT CAST(MAX(id) AS TEXT) FROM river_job WHERE kind = 'mail'")[0]

		stop := testkit.RunQueue(t, queue)
		require.Eventually(t, func() bool {
			due, err := queue.Due(t.Context())
			return err == nil && due == 0
		}, time.Minute, 20*time.Millisecond)
		stop()
		order := w.Query(t, "SELECT CAST(id AS TEXT) FROM river_job WHERE kind = 'mail' AND state = 'completed' ORDER BY attempted_at, id")
		require.Len(t, order, 4*mail.PerMinute+1)
		require.Less(t, slices.Index(order, last), mail.PerMinute+20)
	})
}

// A server that says for good that an address takes no mail marks the person, as the report of a mail that came back does, so that nothing is
// sent in vain. One that is out of order, or lets nobody relay, says nothing of the person.
func TestAnAddressThatTakesNoMailIsMarked(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name  string
		reply *smtp.SMTPError
		to    string // empty for the address that the person has
		want  user.MailState
	}{
		{"unknown", &smtp.SMTPError{Code: 550, EnhancedCode: smtp.EnhancedCode{5, 1, 1}, Message: "No such user"}, "", user.MailStateBOUNCED},
		{"without a status", &smtp.SMTPError{Code: 553, EnhancedCode: smtp.NoEnhancedCode, Message: "No"}, "", user.MailStateBOUNCED},
		{"an address of before", &smtp.SMTPError{Code: 550, EnhancedCode: smtp.EnhancedCode{5, 1, 1}, Message: "No such user"}, "old@x.test", user.MailStateOK},
		{"no relaying", &smtp.SMTPError{Code: 554, EnhancedCode: smtp.EnhancedCode{5, 7, 1}, Message: "Relay access denied"}, "", user.MailStateOK},
		{"later", &smtp.SMTPError{Code: 450, EnhancedCode: smtp.EnhancedCode{4, 2, 1}, Message: "Greylisted"}, "", user.MailStateOK},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			testkit.Each(t, func(t *testing.T, w *testkit.World) {
				sender, err := mail.Open(mail.Options{URL: mail.Refusing(t, tc.reply), From: "desk@x.test"})
				require.NoError(t, err)
				queue, err := jobs.New(w.Store, slog.New(slog.DiscardHandler), true, mail.Work(w.Store, sender, w.Engine.Sealer))
				require.NoError(t, err)
				box := mail.NewOutbox(queue, w.Engine.Sealer)
				who, other := w.A.Users[principal.Member], w.A.Users[principal.Agent]
				m := mail.Message{To: who.Email, Of: who.ID, Subject: "Hello", Text: "Hello\n"}
				if tc.to != "" {
					m.To = tc.to
				}
				require.NoError(t, w.Store.Write(w.As(w.A, principal.Owner), func(ctx context.Context, tx *store.Tx) error { return box.Enqueue(ctx, tx, m) }))
				stop := testkit.RunQueue(t, queue)
				require.Eventually(t, func() bool {
					return len(w.Query(t, "SELECT CAST(id AS TEXT) FROM river_job WHERE kind = 'mail' AND state IN ('cancelled', 'retryable')")) == 1
				}, time.Minute, 20*time.Millisecond)
				stop()
				state := func(id string) user.MailState {
					return w.Store.Reader().User.Query().Where(user.ID(id)).OnlyX(w.As(w.A, principal.Owner)).MailState
				}
				require.Equal(t, tc.want, state(who.ID))
				require.Equal(t, user.MailStateOK, state(other.ID))
			})
		})
	}
}

// A mail to somebody who was erased before it was sent is dropped, as is one to an account that has gone. Others are sent.
func TestMailsToTheErasedAreDropped(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		dir := filepath.Join(t.TempDir(), "outbox")
		sender, err := mail.Open(mail.Options{Dir: dir})
		require.NoError(t, err)
		queue, err := jobs.New(w.Store, slog.New(slog.DiscardHandler), true, mail.Work(w.Store, sender, w.Engine.Sealer))
		require.NoError(t, err)
		box := mail.NewOutbox(queue, w.Engine.Sealer)
		erased, stays := w.A.Users[principal.Agent], w.A.Users[principal.Member]
		require.NoError(t, w.Store.Write(principal.System(t.Context(), "test"), func(ctx context.Context, tx *store.Tx) error {
			for subject, of := range map[string]string{
				"To the erased": erased.ID, "To an account that has gone": "acc_gone", "To a user": stays.ID, "To an account": stays.AccountID, "To nobody yet": "",
			} {
				if err := box.Enqueue(ctx, tx, mail.Message{To: "ada@x.test", Of: of, Subject: subject, Text: "Hello\n"}); err != nil {
					return err
				}
			}
			return tx.User.UpdateOneID(erased.ID).SetStatus(user.StatusErased).Exec(ctx)
		}))
		require.True(t, w.Store.Reader().Account.Query().Where(account.ID(stays.AccountID)).ExistX(principal.System(t.Context(), "test")))

		stop := testkit.RunQueue(t, queue)
		require.Eventually(t, func() bool {
			due, err := queue.Due(t.Context())
			return err == nil && due == 0
		}, 30*time.Second, 20*time.Millisecond)
		stop()
		files, err := filepath.Glob(filepath.Join(dir, "*.eml"))
		require.NoError(t, err)
		var sent []string
		for _, file := range files {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			_, line, _ := strings.Cut(string(text), "Subject: ")
			line, _, _ = strings.Cut(line, "\r\n")
			sent = append(sent, line)
		}
		require.ElementsMatch(t, []string{"To a user", "To an account", "To nobody yet"}, sent)
	})
}
