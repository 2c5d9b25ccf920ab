package attachment_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	entity "atrium/ent/attachment"
	"atrium/internal/desk/attachment"
	"atrium/internal/desk/catalog"
	"atrium/internal/desk/form"
	"atrium/internal/desk/request"
	"atrium/internal/op"
	"atrium/internal/op/paging"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/id"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/strictjson"
	"atrium/internal/test/testkit"
)

// asking is a desk with an offering whose form asks for files: an invoice, which is needed, and up to twenty pictures.
type asking struct {
	*desk
	t        *testing.T
	offering *ent.Offering
}

func ask(t *testing.T, w *testkit.World, scan *attachment.Scanner) *asking {
	t.Helper()
	d, owner := newDesk(t, w, scan), w.As(w.A, principal.Owner)
	s := testkit.Run(t, w, owner, catalog.CreateService, catalog.CreateServiceInput{Name: "Accounting"})
	o := testkit.Run(t, w, owner, catalog.CreateOffering, catalog.CreateOfferingInput{ByID: op.ByID{ID: s.ID}, Name: "Pay", Form: &form.Definition{Fields: []form.Field{
		{Key: "invoice", Label: "Your invoice", Type: form.File, Required: true, Accept: []string{".txt", "image/*"}},
		{Key: "pictures", Type: form.File, MaxFiles: new(20)},
		{Key: "paid", Type: form.Boolean},
	}}})
	return &asking{d, t, o}
}

// draft sends a file of somebody's that belongs to nothing yet.
func (a *asking) draft(as context.Context, name string) string {
	a.t.Helper()
	content := "The content of " + name
	row := testkit.Run(a.t, a.World, as, attachment.Create, attachment.CreateInput{Draft: new(true), Name: name, Size: int64(len(content))})
	_, err := a.Receive(as, row.ID, strings.NewReader(content), int64(len(content)))
	require.NoError(a.t, err)
	return row.ID
}

func (a *asking) file(as context.Context, fields strictjson.Object, others ...string) (*ent.Request, error) {
	r, _, err := op.Run(as, a.World.Engine, request.Create, request.CreateInput{
		ServiceID: a.offering.ServiceID, OfferingID: a.offering.ID, Title: "An invoice", Fields: fields, AttachmentIDs: others,
	}, nil)
	return r, err
}

func (a *asking) answer(as context.Context, r *ent.Request, fields strictjson.Object) error {
	_, _, err := op.Run(as, a.World.Engine, request.Update, request.UpdateInput{ByID: op.ByID{ID: r.ID}, Fields: op.SetTo(fields)}, nil)
	return err
}

// filesOf returns the names of a request's files.
func (a *asking) filesOf(r *ent.Request) []string {
	a.t.Helper()
	var names []string
	for _, one := range testkit.Run(a.t, a.World, a.as(principal.Agent), attachment.List, attachment.ListInput{ByID: op.ByID{ID: r.ID}}).Rows {
		names = append(names, one.Name)
	}
	return names
}

// faults checks that an error is about these fields, and returns what it says of each.
func faults(t *testing.T, err error, fields ...string) (said []string) {
	t.Helper()
	require.Equal(t, apperr.Validation, apperr.CodeOf(err), "%v", err)
	var at []string
	for _, d := range apperr.From(err).Details {
		at, said = append(at, d.Field), append(said, d.Message)
	}
	require.Equal(t, fields, at, "%v", said)
	return said
}

type object = strictjson.Object

// Drafts that answers name become files of the request, and are its own then.
func TestAnswersTakeDrafts(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		a := ask(t, w, nil)
		me := a.as(principal.Member)
		invoice, photo, beside := a.draft(me, "invoice.txt"), a.draft(me, "photo.txt"), a.draft(me, "beside.txt")
		_, err := a.file(me, nil)
		require.Equal(t, []string{"Is required."}, faults(t, err, "fields.invoice"))
		r, err := a.file(me, object{"invoice": []any{invoice}, "pictures": []any{photo, beside}}, beside)
		require.NoError(t, err)
		require.ElementsMatch(t, []string{"invoice.txt", "photo.txt", "beside.txt"}, a.filesOf(r))
		got, err := a.bytesOf(a.as(principal.Agent), invoice)
		require.NoError(t, err)
		require.Equal(t, "The content of invoice.txt", got)

		staff := a.as(principal.Agent)
		more := a.draft(staff, "more.txt")
		require.NoError(t, a.answer(staff, r, object{"invoice": []any{more}, "pictures": []any{invoice, photo}}), "a file may move to another answer")
		require.Len(t, a.filesOf(r), 4, "what no answer names any more stays a file of the request")
		require.NoError(t, a.answer(staff, r, object{"invoice": []any{beside}}), "and may be named again, whoever added it")
		_, err = a.file(me, object{"invoice": []any{more}})
		require.Equal(t, []string{"There is no such file."}, faults(t, err, "fields.invoice[0]"), "it is that request's")
	})
}

// What is nobody's draft, somebody else's, another request's, a comment's, another company's, unsent, removed or infected is refused; what
// the caller may not know of, in the same words as what is not there.
func TestAnswersRefuseForeignFiles(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		a := ask(t, w, &attachment.Scanner{Address: clamd(t)})
		me, other, there := a.as(principal.Agent), a.as(principal.Member), w.As(w.B, principal.Owner)
		r, err := a.file(me, object{"invoice": []any{a.draft(me, "invoice.txt")}})
		require.NoError(t, err)
		c := testkit.Run(t, w, me, request.CreateComment, request.CreateCommentInput{ByID: op.ByID{ID: r.ID}, Body: "See there.", AttachmentIDs: []string{a.draft(me, "said.txt")}})
		said := testkit.Run(t, w, me, attachment.OfComments, paging.ByIDs{IDs: []string{c.ID}})[c.ID][0].ID
		removed, unsent := a.draft(me, "removed.txt"), testkit.Run(t, w, me, attachment.Create, attachment.CreateInput{Draft: new(true), Name: "unsent.txt", Size: 1}).ID
		testkit.Run(t, w, me, attachment.Delete, op.ByID{ID: removed})
		for name, of := range map[string]string{
			"unknown": id.New("att"), "somebody's draft": a.draft(other, "theirs.txt"), "another request's": a.add(t, me, "x").ID, "a comment's": said,
			"another company's": a.draft(there, "there.txt"), "removed": removed,
		} {
			for field, err := range map[string]error{
				"fields.invoice[0]":  a.answer(me, r, object{"invoice": []any{of}}),
				"fields.pictures[1]": a.answer(me, r, object{"invoice": invoiceOf(t, r), "pictures": []any{a.draft(me, "fine.txt"), of}}),
			} {
				require.Equal(t, []string{"There is no such file."}, faults(t, err, field), name)
			}
		}
		require.Equal(t, []string{"Its bytes have not come yet."}, faults(t, a.answer(me, r, object{"invoice": []any{unsent}}), "fields.invoice[0]"))
		require.Equal(t, []string{"Must be one of: .txt, image/*."}, faults(t, a.answer(me, r, object{"invoice": []any{a.draft(me, "page.html")}}), "fields.invoice[0]"))
		ill := a.draft(me, "EICAR.txt")
		row, err := w.Store.Reader().Attachment.Get(me, ill)
		require.NoError(t, err)
		require.NoError(t, a.ScanNow(t.Context(), row.CompanyID, row.StoredAs))
		require.Contains(t, faults(t, a.answer(me, r, object{"invoice": []any{ill}}), "fields.invoice[0]")[0], "quarantined")
		require.ElementsMatch(t, []string{"invoice.txt", "said.txt"}, a.filesOf(r), "nothing of what was refused has become the request's")
	})
}

// invoiceOf returns the file that a request's answer names.
func invoiceOf(t *testing.T, r *ent.Request) any {
	t.Helper()
	var fields map[string]any
	require.NoError(t, json.Unmarshal(r.Fields, &fields))
	return fields["invoice"]
}

// A draft that two requests claim at once becomes a file of one of them.
func TestTwoRequestsClaimOneDraft(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		a := ask(t, w, nil)
		me := a.as(principal.Member)
		for range 5 {
			draft := a.draft(me, "invoice.txt")
			var all sync.WaitGroup
			filed, errs := make([]*ent.Request, 4), make([]error, 4)
			for i := range filed {
				all.Go(func() { filed[i], errs[i] = a.file(me, object{"invoice": []any{draft}}) })
			}
			all.Wait()
			var winner *ent.Request
			for i, err := range errs {
				if err == nil {
					require.Nil(t, winner, "two have it")
					winner = filed[i]
					continue
				}
				require.Equal(t, []string{"There is no such file."}, faults(t, err, "fields.invoice[0]"))
			}
			require.NotNil(t, winner)
			row, err := w.Store.Reader().Attachment.Get(me, draft)
			require.NoError(t, err)
			require.Equal(t, winner.ID, *row.RequestID)
		}
	})
}

// Files of answers count among the twenty of a request.
func TestAnswersCountAmongTheFilesOfARequest(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		a := ask(t, w, nil)
		me := a.as(principal.Member)
		var many []any
		for range 20 {
			many = append(many, a.draft(me, "photo.txt"))
		}
		_, err := a.file(me, object{"invoice": []any{a.draft(me, "invoice.txt")}, "pictures": many})
		refused(t, err, apperr.Conflict, "at most 20 files")
		_, err = a.file(me, object{"invoice": []any{a.draft(me, "invoice.txt")}, "pictures": many[1:]})
		require.NoError(t, err)
	})
}

// A file that an answer names cannot be removed. One that went for good all the same, as an erasure has it, does not keep the other
// answers from being changed.
func TestAnswersKeepTheirFiles(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		a := ask(t, w, nil)
		me := a.as(principal.Agent)
		invoice, photo := a.draft(me, "invoice.txt"), a.draft(me, "photo.txt")
		r, err := a.file(me, object{"invoice": []any{invoice}, "pictures": []any{photo}})
		require.NoError(t, err)
		for _, as := range []context.Context{me, a.as(principal.Owner)} {
			_, _, err = op.Run(as, w.Engine, attachment.Delete, op.ByID{ID: invoice}, nil)
			refused(t, err, apperr.Conflict, `The answer to "Your invoice" names this file: take it out of the answer first.`)
		}
		require.NoError(t, a.answer(me, r, object{"invoice": []any{invoice}}))
		testkit.Run(t, w, me, attachment.Delete, op.ByID{ID: photo})

		require.NoError(t, w.Engine.WorkAs(t.Context(), principal.Worker(w.A.Company.ID, "test"), func(ctx context.Context, tx *op.Tx) error {
			return attachment.Erase(ctx, tx, "[erased]", invoice)
		}))
		require.NoError(t, a.answer(me, r, object{"invoice": []any{invoice}, "paid": true}))
		other := a.draft(me, "other.txt")
		require.Equal(t, []string{"Must name at most 1 file."}, faults(t, a.answer(me, r, object{"invoice": []any{invoice, other}}), "fields.invoice"))
		require.NoError(t, a.answer(me, r, object{"invoice": []any{other}}))
		require.Equal(t, []string{"There is no such file."}, faults(t, a.answer(me, r, object{"invoice": []any{invoice}}), "fields.invoice[0]"))
		require.Equal(t, []string{"other.txt"}, a.filesOf(r))
		require.Equal(t, entity.StatusREADY, w.Store.Reader().Attachment.GetX(me, other).Status)
	})
}

// A request that moves to another offering keeps its files, where that one asks for such.
func TestFilesMoveWithTheirRequest(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		a := ask(t, w, nil)
		me, owner := a.as(principal.Member), a.as(principal.Owner)
		invoice := a.draft(me, "invoice.txt")
		r, err := a.file(me, object{"invoice": []any{invoice}})
		require.NoError(t, err)
		to := func(accept string) *ent.Offering {
			return testkit.Run(t, w, owner, catalog.CreateOffering, catalog.CreateOfferingInput{ByID: op.ByID{ID: a.offering.ServiceID}, Name: accept, Form: &form.Definition{
				Fields: []form.Field{{Key: "invoice", Type: form.File, Required: true, Accept: []string{accept}}},
			}})
		}
		move := func(o *ent.Offering, fields object) error {
			_, _, err := op.Run(owner, w.Engine, request.Move, request.MoveInput{ByID: op.ByID{ID: r.ID}, OfferingID: o.ID, Fields: fields}, nil)
			return err
		}
		require.Equal(t, []string{"Must be one of: .pdf."}, faults(t, move(to(".pdf"), nil), "fields.invoice[0]"))
		require.NoError(t, move(to(".txt"), nil))
		require.NoError(t, move(to("text/plain"), object{"invoice": []any{a.draft(owner, "theirs.txt")}}))
		require.Len(t, a.filesOf(r), 2)
	})
}
