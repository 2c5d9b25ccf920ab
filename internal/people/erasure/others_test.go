package erasure_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"path/filepath"
	"testing"
	"time"

	"entgo.io/ent/dialect/sql"
	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/ent/execution"
	"atrium/ent/incident"
	"atrium/ent/notification"
	"atrium/ent/savedview"
	"atrium/ent/task"
	"atrium/ent/user"
	"atrium/internal/desk/attachment"
	"atrium/internal/desk/catalog"
	"atrium/internal/desk/request"
	views "atrium/internal/desk/savedview"
	"atrium/internal/op"
	"atrium/internal/people"
	"atrium/internal/people/erasure"
	"atrium/internal/platform/files"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
	"atrium/internal/workflow/engine"
)

const word = "Quintessimus"

// What a person wrote and what names them leaves what is others', too: notices of their mentions, reasons for which they declined, what
// they completed tasks and resolved incidents with, and views that they made for others. No column of any table holds it afterwards. An
// execution that still runs loses it when it has ended.
func TestWhatIsOthers(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		ctx, sys := w.As(w.A, principal.Owner), principal.System(t.Context(), "test")
		who := w.A.Users[principal.Agent]
		require.NoError(t, w.Store.Write(sys, func(ctx context.Context, tx *store.Tx) error {
			return tx.User.UpdateOneID(who.ID).SetName("Zaphod " + word).Exec(ctx)
		}))
		who = w.Store.Reader().User.GetX(sys, who.ID)
		theirs := w.AsUser(who)
		service := testkit.Run(t, w, ctx, catalog.CreateService, catalog.CreateServiceInput{Name: "IT"})
		offering := testkit.Run(t, w, ctx, catalog.CreateOffering, catalog.CreateOfferingInput{ByID: op.ByID{ID: service.ID}, Name: "Laptop"})
		file := func() *ent.Request {
			return testkit.Run(t, w, ctx, request.Create, request.CreateInput{ServiceID: service.ID, OfferingID: offering.ID, Title: "A laptop"})
		}
		declined, discussed := file(), file()
		testkit.Run(t, w, theirs, request.Decline, request.DeclineInput{ByID: op.ByID{ID: declined.ID}, Reason: word + " says no"})
		said := testkit.Run(t, w, theirs, request.CreateComment, request.CreateCommentInput{ByID: op.ByID{ID: discussed.ID}, Body: "@" + w.A.Owner.ID + " look"})
		require.Equal(t, []string{w.A.Owner.ID}, said.Mentioned)
		gone := testkit.Run(t, w, theirs, request.CreateComment, request.CreateCommentInput{ByID: op.ByID{ID: declined.ID}, Body: "@" + w.A.Owner.ID + " see"})
		testkit.Run(t, w, theirs, request.DeleteComment, op.ByID{ID: gone.ID})
		require.Equal(t, 2, w.Store.Reader().Notification.Query().Where(notification.SubjectContains(word)).CountX(ctx))
		testkit.Run(t, w, w.As(w.A, principal.Admin), views.Create, views.CreateInput{Name: "Mine", Scope: "company"})
		var running string
		require.NoError(t, w.Store.Write(sys, func(ctx context.Context, tx *store.Tx) (err error) {
			if err := tx.SavedView.Create().SetCompanyID(who.CompanyID).SetUserID(who.ID).SetName("Of " + word).SetScope(savedview.ScopeCompany).
				SetQuery("q=" + word + "&status=PENDING&tag.by=" + word).Exec(ctx); err != nil {
				return err
			}
			if err := tx.AccessDecision.Create().SetCompanyID(who.CompanyID).SetPrincipalType("user").SetPrincipalID(who.ID).SetPrincipalName(word).SetMethod("").SetVerb("x").
				SetAction("read").SetResourceType("Request").SetAllowed(false).SetDecidedKind("role").SetDecidedID("agent").SetPolicies("").SetBundle("").SetRequestID("").Exec(ctx); err != nil {
				return err
			}
			_, err = answered(ctx, tx, who, discussed.ID, execution.StatusCOMPLETED)
			if err == nil {
				running, err = answered(ctx, tx, who, discussed.ID, execution.StatusWAITING)
			}
			return err
		}))

		testkit.Run(t, w, ctx, people.ErasePerson, people.ErasePersonInput{UserID: who.ID, Reason: "asked by letter"})
		require.NoError(t, erasure.Erase(t.Context(), w.Engine, erasure.Args{Company: who.CompanyID, User: who.ID}))
		require.Equal(t, []string{"executions.state", "incidents.variables"}, holding(t, w, word), "of the execution that runs")
		db := w.Store.Reader()
		view := db.SavedView.Query().Where(savedview.UserID(who.ID)).OnlyX(ctx)
		require.Equal(t, []string{erasure.Mark, "status=PENDING"}, []string{view.Name, view.Query}, "others keep the view")
		require.Equal(t, 1, db.SavedView.Query().Where(savedview.Name("Mine")).CountX(ctx))
		require.Equal(t, user.StatusErased, db.User.GetX(ctx, who.ID).Status)

		require.NoError(t, w.Store.Write(sys, func(ctx context.Context, tx *store.Tx) error {
			return tx.Execution.UpdateOneID(running).SetStatus(execution.StatusCANCELLED).Exec(ctx)
		}))
		require.NoError(t, erasure.Erase(t.Context(), w.Engine, erasure.Args{Company: who.CompanyID, User: who.ID, Rest: true}))
		require.Empty(t, holding(t, w, word))
		kept := db.Execution.GetX(ctx, running)
		require.Contains(t, string(kept.State), "by the owner", "what others wrote stays")
	})
}

// answered makes an execution of a request in which a person has completed a task and resolved an incident.
func answered(ctx context.Context, tx *store.Tx, who *ent.User, requestID string, status execution.Status) (string, error) {
	state, err := json.Marshal(engine.State{Status: engine.Status(status), Phases: map[string]any{
		"hand_out": map[string]any{"to": word}, "order": map[string]any{"by": word}, "other": map[string]any{"note": "by the owner"},
	}})
	if err != nil {
		return "", err
	}
	flow, err := tx.Workflow.Create().SetCompanyID(who.CompanyID).SetName("W").SetSlug("w-" + string(status)).SetDefinition(json.RawMessage("{}")).Save(ctx)
	if err != nil {
		return "", err
	}
	e, err := tx.Execution.Create().SetCompanyID(who.CompanyID).SetWorkflowID(flow.ID).SetWorkflowVersion(1).SetRequestID(requestID).SetTrigger(execution.TriggerRequest).
		SetStatus(status).SetState(state).Save(ctx)
	if err != nil {
		return "", err
	}
	for n, phase := range []string{"hand_out", "order"} {
		output := json.RawMessage(fmt.Sprintf(`{"to":%q}`, word))
		if err := tx.PhaseVisit.Create().SetCompanyID(who.CompanyID).SetExecutionID(e.ID).SetNumber(n + 1).SetPhaseID(phase).SetType("MANUAL_TASK").SetStatus("COMPLETED").
			SetStartedAt(time.Now()).SetOutput(output).Exec(ctx); err != nil {
			return "", err
		}
	}
	err = tx.Task.Create().SetCompanyID(who.CompanyID).SetExecutionID(e.ID).SetRequestID(requestID).SetPhaseID("hand_out").SetVisit(1).SetAttempt(1).SetTitle("Hand out").
		SetStatus(task.StatusCOMPLETED).SetCompletedBy(who.ID).SetVariables(json.RawMessage(fmt.Sprintf(`{"to":%q}`, word))).Exec(ctx)
	if err != nil {
		return "", err
	}
	err = tx.Incident.Create().SetCompanyID(who.CompanyID).SetExecutionID(e.ID).SetPhaseID("order").SetVisit(2).SetAttempt(1).SetCode("call_failed").SetMessage("m").
		SetStatus(incident.StatusRESOLVED).SetResolvedBy(who.ID).SetVariables(json.RawMessage(fmt.Sprintf(`{"order":{"by":%q}}`, word))).Exec(ctx)
	return e.ID, err
}

// holding returns the columns of all tables that hold a text, in order.
func holding(t *testing.T, w *testkit.World, text string) (out []string) {
	t.Helper()
	for _, table := range store.Tables {
		for _, c := range table.Columns {
			if !written(c) {
				continue
			}
			var rows sql.Rows
			statement := fmt.Sprintf(`SELECT COUNT(*) FROM %s WHERE CAST("%s" AS TEXT) LIKE '%%%s%%'`, table.Name, c.Name, text)
			require.NoError(t, ent.DriverOf(w.Store.Reader()).Query(principal.System(t.Context(), "test"), statement, []any{}, &rows))
			n, err := sql.ScanInt(rows)
			require.NoError(t, err)
			require.NoError(t, rows.Close())
			if n > 0 {
				out = append(out, table.Name+"."+c.Name)
			}
		}
	}
	return out
}

// Erasing a person erases the requests that are theirs, whoever filed them, and not what they filed for others.
func TestRequestersAreErased(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		owner, staff, member := w.As(w.A, principal.Owner), w.A.Users[principal.Agent], w.A.Users[principal.Member]
		s := testkit.Run(t, w, owner, catalog.CreateService, catalog.CreateServiceInput{Name: "IT"})
		o := testkit.Run(t, w, owner, catalog.CreateOffering, catalog.CreateOfferingInput{ByID: op.ByID{ID: s.ID}, Name: "Laptop"})
		file := func(requester *ent.User) string {
			in := request.CreateInput{ServiceID: s.ID, OfferingID: o.ID, Title: "A laptop", RequesterID: &requester.ID}
			return testkit.Run(t, w, w.AsUser(staff), request.Create, in).ID
		}
		own, forMember := file(staff), file(member)
		erase := func(who *ent.User) {
			testkit.Run(t, w, owner, people.ErasePerson, people.ErasePersonInput{UserID: who.ID, Reason: "asked by letter"})
			require.NoError(t, erasure.Erase(t.Context(), w.Engine, erasure.Args{Company: who.CompanyID, User: who.ID}))
		}
		titles := func() (titles []string) {
			for _, id := range []string{own, forMember} {
				titles = append(titles, testkit.Run(t, w, owner, request.Get, op.ByID{ID: id}).Title)
			}
			return titles
		}
		erase(staff)
		require.Equal(t, []string{erasure.Mark, "A laptop"}, titles())
		erase(member)
		require.Equal(t, []string{erasure.Mark, erasure.Mark}, titles())
	})
}

// Erasing a person erases the files of their requests, whoever added them, and those that they added elsewhere; a day later their
// bytes go, previews too. The mails that came from their address go as well. What others have stays.
func TestFilesAreErased(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		owner, who, sys := w.As(w.A, principal.Owner), w.A.Users[principal.Member], principal.System(t.Context(), "test")
		folder := filesystem(t)
		depot := attachment.NewDepot(attachment.Depot{Engine: w.Engine, Files: folder, Spool: t.TempDir(), Log: w.Engine.Log})
		s := testkit.Run(t, w, owner, catalog.CreateService, catalog.CreateServiceInput{Name: "IT"})
		o := testkit.Run(t, w, owner, catalog.CreateOffering, catalog.CreateOfferingInput{ByID: op.ByID{ID: s.ID}, Name: "Laptop"})
		file := func(as context.Context) string {
			return testkit.Run(t, w, as, request.Create, request.CreateInput{ServiceID: s.ID, OfferingID: o.ID, Title: "A laptop"}).ID
		}
		add := func(as context.Context, requestID string, content []byte) string {
			in := attachment.CreateInput{Name: word + ".png", Size: int64(len(content))}
			if in.RequestID = &requestID; requestID == "" {
				draft := true
				in.RequestID, in.Draft = nil, &draft
			}
			a := testkit.Run(t, w, as, attachment.Create, in)
			_, err := depot.Receive(as, a.ID, bytes.NewReader(content), int64(len(content)))
			require.NoError(t, err)
			return a.ID
		}
		theirs, others := file(w.AsUser(who)), file(owner)
		photo := add(w.AsUser(who), theirs, picture(t))
		add(owner, theirs, []byte("by the owner, about them"))
		add(w.AsUser(who), "", []byte("a draft"))
		kept := add(owner, others, []byte("the owner's own"))
		_, err := depot.Preview(owner, photo, 320)
		require.NoError(t, err)
		require.Equal(t, 5, stored(t, folder))
		require.NoError(t, w.Store.Write(sys, func(ctx context.Context, tx *store.Tx) error {
			box, err := tx.Mailbox.Create().SetCompanyID(who.CompanyID).SetAddress("help@a.test").SetKind("smtp").SetReceivesAt("help@in.test").SetOfferingID(o.ID).SetCreatedBy(w.A.Owner.ID).Save(ctx)
			if err != nil {
				return err
			}
			for _, sender := range []string{who.Email, "other@a.test"} {
				if err := tx.InboundMail.Create().SetCompanyID(who.CompanyID).SetMailboxID(box.ID).SetRecipient(box.Address).SetSender(sender).SetSubject("From " + sender).SetSize(1).Exec(ctx); err != nil {
					return err
				}
			}
			return nil
		}))

		testkit.Run(t, w, owner, people.ErasePerson, people.ErasePersonInput{UserID: who.ID, Reason: "asked by letter"})
		require.NoError(t, erasure.Erase(t.Context(), w.Engine, erasure.Args{Company: who.CompanyID, User: who.ID}))
		require.Equal(t, []string{"attachments.name", "audit_entries.changes"}, holding(t, w, word), "of the owner's own file")
		require.Equal(t, 1, w.Store.Reader().InboundMail.Query().CountX(sys), "mails of others stay")
		require.NoError(t, depot.Sweep(t.Context()))
		require.Equal(t, 5, stored(t, folder), "a backup that is being made names them")
		w.Clock.SetOffset(25 * time.Hour)
		require.NoError(t, depot.Sweep(t.Context()))
		require.Equal(t, 1, stored(t, folder))
		require.Equal(t, []string{kept}, w.Store.Reader().Attachment.Query().IDsX(sys))
	})
}

func filesystem(t *testing.T) *files.Folder {
	return files.NewFolder(filepath.Join(t.TempDir(), "files"))
}

// stored counts the files of a store.
func stored(t *testing.T, s *files.Folder) (n int) {
	t.Helper()
	require.NoError(t, s.List(t.Context(), func(string, time.Time) error { n++; return nil }))
	return n
}

func picture(t *testing.T) []byte {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, png.Encode(&out, image.NewGray(image.Rect(0, 0, 640, 480))))
	return out.Bytes()
}
