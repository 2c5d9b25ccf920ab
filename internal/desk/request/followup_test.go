package request_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/ent/attachment"
	entrequest "atrium/ent/request"
	"atrium/ent/requestlink"
	"atrium/internal/desk/catalog"
	"atrium/internal/desk/form"
	"atrium/internal/desk/request"
	"atrium/internal/op"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/policy"
	"atrium/internal/test/testkit"
)

// late completes a request and lets the days pass in which its requester may open it again.
func (w *watch) late(o *ent.Offering) *ent.Request {
	w.t.Helper()
	w.within(o, 1)
	r := w.done(w.As(w.A, principal.Member), o)
	w.later(25 * time.Hour)
	return r
}

// after returns the requests that follow another, in the order in which they were filed.
func (w *watch) after(r *ent.Request) []*ent.Request {
	w.t.Helper()
	links, err := w.Store.Reader().RequestLink.Query().Where(requestlink.ToID(r.ID), requestlink.TypeEQ(requestlink.TypeRelates)).WithFrom().Order(requestlink.ByCreatedAt(), requestlink.ByID()).All(w.owner)
	require.NoError(w.t, err)
	out := make([]*ent.Request, len(links))
	for i, l := range links {
		out[i] = l.Edges.From
	}
	return out
}

// What a requester says after the days in which they may open their request again becomes a new request, linked with it; what they say
// then, while that is open, is said there.
func TestLateCommentsFileAFollowUp(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, world *testkit.World) {
		w := newWatch(t, world)
		member := w.As(w.A, principal.Member)
		r := w.late(w.offer(catalog.SLA{}))
		stop := w.work()
		defer stop()
		say := func(body string) {
			testkit.Run(t, world, member, request.CreateComment, request.CreateCommentInput{ByID: op.ByID{ID: r.ID}, Body: body, Format: new("markdown")})
		}
		say("It broke **again**.")
		require.Eventually(t, func() bool { return len(w.after(r)) == 1 }, patience, tick)
		next := w.after(r)[0]
		require.Equal(t, []any{r.ServiceID, r.OfferingID, r.Title, r.Priority, r.RequesterID, r.RequesterID, "It broke **again**.", entrequest.FormatMarkdown, entrequest.StatusPENDING},
			[]any{next.ServiceID, next.OfferingID, next.Title, next.Priority, next.RequesterID, next.CreatedBy, next.Description, next.Format, next.Status})
		require.Equal(t, entrequest.StatusCOMPLETED, w.get(r.ID).Status, "what was done stays done")

		say("And it smells.")
		said := func() []*ent.Comment {
			return testkit.Run(t, world, w.owner, request.ListComments, request.ListCommentsInput{ByID: op.ByID{ID: next.ID}}).Rows
		}
		require.Eventually(t, func() bool { return len(said()) == 1 }, patience, tick)
		require.Equal(t, []string{"And it smells.", r.RequesterID}, []string{said()[0].Body, said()[0].AuthorID})
		require.Len(t, w.after(r), 1)

		w.patch(w.owner, next.ID, request.UpdateInput{Status: op.SetTo("CANCELLED")})
		say("Once more.")
		require.Eventually(t, func() bool { return len(w.after(r)) == 2 }, patience, tick, "the one before has ended")
	})
}

// draft is a file of the member's whose bytes have come, and that belongs to nothing yet.
func (w *watch) draft(name string, scan attachment.Scan) (id string) {
	w.t.Helper()
	require.NoError(w.t, w.Store.Write(w.owner, func(ctx context.Context, tx *store.Tx) error {
		a, err := tx.Attachment.Create().SetName(name).SetSize(1).SetCreatedBy(w.A.Users[principal.Member].ID).SetStatus(attachment.StatusREADY).
			SetScan(scan).SetSha256(name).SetMediaType("text/plain").SetStoredAs("stored as " + name).Save(ctx)
		id = a.ID
		return err
	}))
	return id
}

// files returns what the files of a request are stored as, by their ids.
func (w *watch) files(requestID string) map[string]string {
	w.t.Helper()
	out := map[string]string{}
	rows, err := w.Store.Reader().Attachment.Query().Where(attachment.RequestID(requestID)).All(w.owner)
	require.NoError(w.t, err)
	for _, a := range rows {
		out[a.ID] = a.StoredAs
	}
	return out
}

// A follow-up has copies of the files that its request was answered with, and those of the late comment; so has a later comment.
func TestFollowUpsTakeFilesAlong(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, world *testkit.World) {
		w := newWatch(t, world)
		member := w.As(w.A, principal.Member)
		o := w.offer(catalog.SLA{})
		testkit.Run(t, world, w.owner, catalog.UpdateOffering, catalog.UpdateOfferingInput{ByID: op.ByID{ID: o.ID}, Form: op.SetTo(form.Definition{Fields: []form.Field{
			{Key: "invoice", Type: form.File, Required: true}, {Key: "pictures", Type: form.File, MaxFiles: new(3)}, {Key: "paid", Type: form.Boolean},
		}})})
		w.within(o, 1)
		invoice, clean, infected := w.draft("invoice", attachment.ScanCLEAN), w.draft("clean", attachment.ScanSKIPPED), w.draft("infected", attachment.ScanSKIPPED)
		r := testkit.Run(t, world, member, request.Create, request.CreateInput{
			ServiceID: o.ServiceID, OfferingID: o.ID, Title: "Pay", Fields: map[string]any{"invoice": []any{invoice}, "pictures": []any{clean, infected}, "paid": false},
		})
		require.NoError(t, w.Store.Write(w.owner, func(ctx context.Context, tx *store.Tx) error { // found later
			return tx.Attachment.UpdateOneID(infected).SetScan(attachment.ScanINFECTED).ClearStoredAs().Exec(ctx)
		}))
		w.patch(w.owner, r.ID, request.UpdateInput{Status: op.SetTo("IN_PROGRESS")})
		w.patch(w.owner, r.ID, request.UpdateInput{Status: op.SetTo("COMPLETED")})
		w.later(25 * time.Hour)
		w.work()
		say := func(file string) {
			testkit.Run(t, world, member, request.CreateComment, request.CreateCommentInput{ByID: op.ByID{ID: r.ID}, Body: "See this.", AttachmentIDs: []string{w.draft(file, attachment.ScanSKIPPED)}})
		}
		say("first")
		require.Eventually(t, func() bool { return len(w.after(r)) == 1 }, patience, tick)
		next := w.after(r)[0]
		var answers map[string]any
		require.NoError(t, json.Unmarshal(next.Fields, &answers))
		all := w.files(next.ID)
		stored := func(answer any) (out []string) {
			for _, id := range answer.([]any) {
				out = append(out, all[id.(string)])
			}
			return out
		}
		require.Equal(t, []string{"stored as invoice"}, stored(answers["invoice"]))
		require.Equal(t, []string{"stored as clean"}, stored(answers["pictures"]))
		require.Equal(t, false, answers["paid"])
		require.Len(t, all, 3, "with the file of the comment")
		require.Len(t, w.files(r.ID), 4, "and the request keeps its own")

		say("second")
		require.Eventually(t, func() bool { return len(w.files(next.ID)) == 4 }, patience, tick)
	})
}

// What the offering or the access policies refuse stays a comment, and so does what staff, or somebody else, says.
func TestLateCommentsThatStayComments(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, world *testkit.World) {
		w := newWatch(t, world)
		member, agent := w.As(w.A, principal.Member), w.As(w.A, principal.Agent)
		closed := w.offer(catalog.SLA{})
		other := func(name string) *ent.Offering {
			return testkit.Run(t, world, w.owner, catalog.CreateOffering, catalog.CreateOfferingInput{ByID: op.ByID{ID: closed.ServiceID}, Name: name})
		}
		denied, last := other("Phone"), other("Desk")
		c := policy.NewCondition([]byte(`{"principal.role": "member", "resource.priority": "URGENT"}`))
		testkit.Run(t, world, w.owner, policy.Create, policy.CreateInput{Name: "No", Effect: "Deny", Action: "create", Resource: "Request", Condition: &c})
		rows := []*ent.Request{w.late(closed), w.late(denied), w.late(last)}
		w.patch(w.owner, rows[1].ID, request.UpdateInput{Priority: op.SetTo("URGENT")})
		testkit.Run(t, world, w.owner, catalog.UpdateOffering, catalog.UpdateOfferingInput{ByID: op.ByID{ID: closed.ID}, Status: op.SetTo("inactive")})
		stop := w.work()
		defer stop()
		for _, r := range rows[:2] {
			require.NoError(t, second(comment(world, member, r, "public")))
		}
		require.NoError(t, second(comment(world, agent, rows[2], "public")))
		require.NoError(t, second(comment(world, member, rows[2], "public"))) // its job is worked after the others
		require.Eventually(t, func() bool { return len(w.after(rows[2])) == 1 }, patience, tick)
		for _, r := range rows[:2] {
			require.Empty(t, w.after(r))
			require.Equal(t, 1, len(testkit.Run(t, world, w.owner, request.ListComments, request.ListCommentsInput{ByID: op.ByID{ID: r.ID}}).Rows))
		}
	})
}
