package request_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/internal/desk/request"
	"atrium/internal/notify/notice"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/policy"
	"atrium/internal/test/testkit"
)

// letters records the mails of operations by recipient, including those of transactions that were
// rolled back.
type letters struct {
	op.Mailer
	mu   sync.Mutex
	sent map[string][]string
}

func (l *letters) Tell(_ context.Context, _ *store.Tx, u *ent.User, t op.Told) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sent[u.Email] = append(l.sent[u.Email], t.Subject+"\n"+testkit.Said(t))
	return nil
}

// take returns the number of mails for each person since the last call.
func (l *letters) take() map[string]int {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := map[string]int{}
	for email, mails := range l.sent {
		out[email] = len(mails)
	}
	clear(l.sent)
	return out
}

// Everybody whom a comment mentions gets one mail, if they may read it and have not switched it
// off.
func TestMentions(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		mails := &letters{sent: map[string][]string{}}
		w.Engine.Mailer = mails
		owner, agent := w.As(w.A, principal.Owner), w.As(w.A, principal.Agent)
		of := func(role principal.Role) *ent.User { return w.A.Users[role] }
		_, o := offer(t, w, owner)
		r := file(t, w, owner, o, "Laptop\nfor <b>Ann</b>")
		say := func(ctx context.Context, on *ent.Request, visibility, body string) *ent.Comment {
			return testkit.Run(t, w, ctx, request.CreateComment, request.CreateCommentInput{ByID: op.ByID{ID: on.ID}, Body: body, Visibility: &visibility})
		}
		admin, member := of(principal.Admin), of(principal.Member)

		c := say(agent, r, "public", fmt.Sprintf("@%s, @%s! (@%s) x@%s @nobody@x.test", admin.ID, strings.ToUpper(admin.Email), of(principal.Owner).Email, member.Email))
		text := mails.sent[admin.Email]
		require.Len(t, text, 1, "named twice, told once")
		require.Contains(t, text[0], "Laptop for <b>Ann</b>", "members read titles as they were written")
		require.Contains(t, text[0], "x@"+member.Email+" @nobody@x.test\n/requests/"+r.ID, "the comment's text, and where it stands")
		require.Equal(t, map[string]int{admin.Email: 1, of(principal.Owner).Email: 1}, mails.take())

		edit := func(body string) {
			testkit.Run(t, w, agent, request.UpdateComment, request.UpdateCommentInput{ByID: op.ByID{ID: c.ID}, Body: op.SetTo(body)})
		}
		edit("Never mind.")
		edit("@" + admin.ID + " again")
		require.Empty(t, mails.take(), "one mail for a person and a comment")

		say(agent, r, "public", "@"+member.ID)
		require.Empty(t, mails.take(), "members do not read others' requests")
		own := file(t, w, w.As(w.A, principal.Member), o, "Theirs")
		say(agent, own, "internal", "@"+member.Email+" @"+of(principal.Agent).Email)
		require.Empty(t, mails.take(), "nor internal comments; and nobody tells themselves")
		say(agent, own, "internal", "@"+admin.Email+" can you?\n\nOn Friday.")
		require.Contains(t, mails.sent[admin.Email][0], " mentioned you in an internal note.\n@"+admin.Name+" can you?\n\nOn Friday.\n", "by name")
		mails.take()
		c = say(agent, own, "public", "@"+member.Email)
		require.Equal(t, map[string]int{member.Email: 1}, mails.take())

		asMember := w.As(w.A, principal.Member)
		require.Equal(t, &notice.Setting{Kind: "mention", Channel: "now"}, testkit.Run(t, w, owner, notice.GetSettings, struct{}{})[0])
		testkit.Run(t, w, asMember, notice.UpdateSettings, notice.Setting{Kind: "mention", Channel: "never"})
		require.Equal(t, &notice.Setting{Kind: "mention", Channel: "never"}, testkit.Run(t, w, asMember, notice.GetSettings, struct{}{})[0])
		say(agent, own, "public", "@"+member.Email)
		require.Empty(t, mails.take(), "switched off")
		require.Equal(t, 2, testkit.Run(t, w, asMember, notice.List, notice.ListInput{}).Total, "and listed all the same")

		deny := policy.NewCondition([]byte(`{"resource.title": "Theirs", "principal.role": "admin"}`))
		testkit.Run(t, w, owner, policy.Create, policy.CreateInput{Name: "Hide", Effect: "Deny", Action: "read", Resource: "Request", Condition: &deny})
		say(agent, own, "public", "@"+admin.ID)
		require.Empty(t, mails.take(), "the request is hidden from them")

		var many strings.Builder
		for i := range 21 {
			fmt.Fprintf(&many, "@u%d@a.test ", i)
		}
		body := many.String()
		require.Equal(t, "body", testkit.Refused(t, w, agent, request.CreateComment, request.CreateCommentInput{ByID: op.ByID{ID: r.ID}, Body: body}, apperr.Validation).Details[0].Field)
	})
}

// A member reads the names of those whom staff mention by address, since members may know no addresses, by list, by row and in what a search
// finds. Staff, and whoever wrote it, read the text as it was typed.
func TestMembersReadNamesWhereStaffMention(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		owner, agent, member := w.As(w.A, principal.Owner), w.As(w.A, principal.Agent), w.As(w.A, principal.Member)
		_, o := offer(t, w, owner)
		r, lead := file(t, w, member, o, "Laptop"), w.A.Users[principal.Admin]
		require.NoError(t, w.Store.Write(owner, func(ctx context.Context, tx *store.Tx) error {
			return tx.User.UpdateOneID(lead.ID).SetName("Ada Lead").Exec(ctx)
		}))
		body := "Ask @" + lead.Email + " or @" + lead.ID + ", not @nobody@x.test."
		say := func(as context.Context, format string) *ent.Comment {
			return testkit.Run(t, w, as, request.CreateComment, request.CreateCommentInput{ByID: op.ByID{ID: r.ID}, Body: body, Format: &format})
		}
		plain, rich, own := say(agent, "plain"), say(agent, "markdown"), say(member, "plain")
		read := func(as context.Context, id string) string {
			return testkit.Run(t, w, as, request.GetComment, op.ByID{ID: id}).Body
		}
		named := "Ask @Ada Lead or @Ada Lead, not @nobody@x.test."
		require.Equal(t, []string{named, body, body}, []string{read(member, plain.ID), read(member, own.ID), read(agent, plain.ID)})
		content, err := request.Content("markdown", read(member, rich.ID))
		require.NoError(t, err)
		require.NotContains(t, string(content), lead.Email)
		require.Contains(t, string(content), "Ask @Ada Lead or @Ada Lead, not @")
		for _, c := range testkit.Run(t, w, member, request.ListComments, request.ListCommentsInput{ByID: op.ByID{ID: r.ID}}).Rows {
			require.Equal(t, c.ID == own.ID, strings.Contains(c.Body, lead.Email), c.Body)
		}
	})
}

// Whoever writes a comment is offered whom it may mention: people who may read the request, by a piece of their name or address, and
// to a member only those who take part in it.
func TestMentionChoices(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		owner, agent, member := w.As(w.A, principal.Owner), w.As(w.A, principal.Agent), w.As(w.A, principal.Member)
		_, o := offer(t, w, owner)
		r, others := file(t, w, member, o, "Laptop"), file(t, w, owner, o, "Merger")
		choices := func(as context.Context, id, q string) (out []string) {
			for _, one := range testkit.Run(t, w, as, request.MentionChoices, request.MentionChoicesInput{ByID: op.ByID{ID: id}, Q: q}) {
				out = append(out, one.ID)
			}
			return out
		}
		ids := func(roles ...principal.Role) (out []string) {
			for _, role := range roles {
				out = append(out, w.A.Users[role].ID)
			}
			return out
		}
		require.ElementsMatch(t, ids(principal.Owner, principal.Admin, principal.Member), choices(agent, r.ID, ""))
		require.ElementsMatch(t, ids(principal.Owner, principal.Admin), choices(agent, others.ID, ""), "the member may not read it")
		require.Equal(t, ids(principal.Admin), choices(agent, r.ID, strings.ToUpper(w.A.Users[principal.Admin].Email)))
		require.Empty(t, choices(member, r.ID, ""), "nobody takes part yet")
		_, err := comment(w, agent, r, "public")
		require.NoError(t, err)
		require.Equal(t, ids(principal.Agent), choices(member, r.ID, ""))
		testkit.Refused(t, w, member, request.MentionChoices, request.MentionChoicesInput{ByID: op.ByID{ID: others.ID}}, apperr.Forbidden)
	})
}

// In a company of many members, who may not read a request, those who may are offered whatever their names are.
func TestMentionChoicesAreNotStarved(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		owner, agent := w.As(w.A, principal.Owner), w.As(w.A, principal.Agent)
		_, o := offer(t, w, owner)
		r := file(t, w, w.As(w.A, principal.Member), o, "Laptop")
		for i := range 30 {
			w.AddUser(t, w.A, fmt.Sprintf("a%d@a.test", i), principal.Member)
		}
		var got []string
		for _, one := range testkit.Run(t, w, agent, request.MentionChoices, request.MentionChoicesInput{ByID: op.ByID{ID: r.ID}}) {
			got = append(got, one.ID)
		}
		require.ElementsMatch(t, []string{w.A.Users[principal.Owner].ID, w.A.Users[principal.Admin].ID, w.A.Users[principal.Member].ID}, got)
	})
}
