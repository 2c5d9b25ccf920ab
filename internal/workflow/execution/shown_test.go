package execution_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/ent/approval"
	"atrium/ent/phasevisit"
	"atrium/internal/desk/request"
	"atrium/internal/notify/notice"
	"atrium/internal/op"
	"atrium/internal/op/events"
	"atrium/internal/op/paging"
	"atrium/internal/people"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
	run "atrium/internal/workflow/execution"
)

// purchase is a workflow in which somebody asks for a price, the product computes with it, somebody approves it, and somebody orders. The
// configs are those of the approval and of the order, as far as they are given.
func purchase(approver *ent.User, ask, order body) body {
	asks := body{"mode": "any", "approvers": []body{person(approver)}}
	for key, value := range ask {
		asks[key] = value
	}
	price := phase("price", "PROCESS", body{"form": body{"fields": []body{
		{"key": "amount", "label": "Price in euros", "type": "number"}, {"key": "delivery_time", "type": "text"}, {"key": "note", "label": "A note", "type": "textarea"},
	}}})
	price["name"] = "Ask for the price"
	d := line([]body{
		phase("start", "START", nil), price, phase("net_price", "DATA", body{"kind": "enrich", "set": body{"perMonth": "phases.price.amount / 12", "none": "''"}}),
		phase("check", "DATA", body{"kind": "validate", "rules": []body{{"check": "phases.price.amount + 0 > 0"}}}), phase("ask", "APPROVAL", asks),
	}, body{"from": "ask", "name": "approved", "to": "order"}, body{"from": "ask", "name": "rejected", "to": "price"}, body{"from": "order", "name": "next", "to": "done"})
	d["phases"] = append(d["phases"].([]body), phase("order", "PROCESS", order), phase("done", "END", nil))
	return d
}

// said returns what is shown, one line for each value: "Name: Label = value".
func said(list []*run.Shown) []string {
	out := []string{}
	for _, one := range list {
		for _, f := range one.Fields {
			name := one.Name
			if one.Branch != nil {
				name = *one.Branch + " · " + name
			}
			out = append(out, fmt.Sprintf("%s: %s = %s", name, f.Label, f.Value))
		}
	}
	return out
}

// approvalShows returns what the request's approval shows to a user.
func (s *shop) approvalShows(as *ent.User, r *ent.Request) []string {
	s.t.Helper()
	id := s.approval(r).ID
	return said(testkit.Run(s.t, s.World, s.AsUser(as), run.LookUpShownByApprovals, paging.ByIDs{IDs: []string{id}})[id])
}

// taskShows returns what the task with an id shows to a user.
func (s *shop) taskShows(as *ent.User, id string) []string {
	s.t.Helper()
	return said(testkit.Run(s.t, s.World, s.AsUser(as), run.LookUpShownByTasks, paging.ByIDs{IDs: []string{id}})[id])
}

// priced files a request and gives its price.
func (s *shop) priced() *ent.Request {
	s.t.Helper()
	r := s.file(nil)
	s.at(r, "WAITING", "price")
	s.complete(r, "", body{"amount": 1200, "delivery_time": "2 weeks", "note": ""})
	s.at(r, "WAITING", "ask")
	return r
}

// An approver, be it a member, sees the price on which they decide: all that has come since the last decision, in the words of the form and
// of the definition. Nobody else sees it by the approval.
func TestApproversSeeWhatTheyDecideOn(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		member, agent := w.A.Users[principal.Member], w.A.Users[principal.Agent]
		s := open(t, w, purchase(member, nil, nil))
		s.work()
		r := s.priced()
		want := []string{"Ask for the price: Price in euros = 1200", `Ask for the price: Delivery time = "2 weeks"`, "Net price: Per month = 100"}
		require.Equal(t, want, s.approvalShows(member, r))
		require.Equal(t, want, s.approvalShows(w.A.Owner, r))
		id := s.approval(r).ID
		_, _, err := op.Run(w.AsUser(member), w.Engine, run.Get, op.ByID{ID: *r.ExecutionID}, nil)
		require.Equal(t, apperr.Forbidden, apperr.CodeOf(err), "without a right to the execution")

		one := testkit.Run(t, w, w.AsUser(member), run.GetApproval, op.ByID{ID: id})
		require.Equal(t, want, saidIn(t, one.Shown))
		list := testkit.Run(t, w, w.AsUser(member), run.ListApprovals, run.ListApprovalsInput{})
		require.JSONEq(t, string(one.Shown), string(list.Rows[0].Shown))
		var shown []run.Shown
		require.NoError(t, json.Unmarshal(one.Shown, &shown))
		require.Equal(t, []string{"price", "amount", "number", "delivery_time", "text"},
			[]string{shown[0].PhaseID, shown[0].Fields[0].Key, shown[0].Fields[0].Type, shown[0].Fields[1].Key, shown[0].Fields[1].Type})

		// No approver, and so no reader of the approval: a colleague. Nor are those of another company.
		other := purchase(agent, nil, nil)
		s.publish(other)
		theirs := s.priced()
		require.Equal(t, want, s.approvalShows(agent, theirs))
		require.Empty(t, s.approvalShows(member, theirs))
		require.Empty(t, s.approvalShows(w.B.Owner, theirs))
		require.Empty(t, s.taskShows(member, s.tasks(theirs, "COMPLETED")[0].ID))

		// After the decision, the next task shows the decision; what was decided on shows as before.
		require.NoError(t, s.decide(member, id, "APPROVE"))
		s.at(r, "WAITING", "order")
		require.Equal(t, []string{`Ask: Outcome = "Approved"`}, s.taskShows(w.A.Owner, s.task(r).ID))
		require.Equal(t, want, saidIn(t, testkit.Run(t, w, w.AsUser(member), run.GetApproval, op.ByID{ID: id}).Shown))
	})
}

// What somebody gave for a phase at its incident shows as if the phase had left it behind, in place of what it left before.
func TestWhatWasGivenAtIncidentsIsShown(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		member := w.A.Users[principal.Member]
		s := open(t, w, purchase(member, nil, nil))
		s.work()
		r := s.file(nil)
		s.at(r, "WAITING", "price")
		s.complete(r, "", body{"note": "Nobody answers"})
		s.at(r, "WAITING", "net_price")
		skip := func(variables body) {
			testkit.Run(t, w, s.ctx, run.ResolveIncident, run.ResolveIncidentInput{ByID: op.ByID{ID: s.incident(r).ID}, Action: "SKIP", Variables: variables})
		}
		skip(body{"net_price": body{"perMonth": 99, "source": "by telephone"}})
		s.at(r, "WAITING", "check")
		skip(nil)
		s.at(r, "WAITING", "ask")
		want := []string{`Ask for the price: A note = "Nobody answers"`, "Net price: Per month = 99", `Net price: Source = "by telephone"`}
		require.Equal(t, want, s.approvalShows(member, r))

		// Once it runs by itself, that counts; and the other way round.
		require.NoError(t, s.decide(member, s.approval(r).ID, "REJECT"))
		s.at(r, "WAITING", "price")
		s.complete(r, "", body{"amount": 1200})
		s.at(r, "WAITING", "ask")
		require.Equal(t, []string{`Ask: Outcome = "Rejected"`, "Ask for the price: Price in euros = 1200", "Net price: Per month = 100"}, s.approvalShows(member, r))
	})
}

// What a task or an approval shows is read before the transaction that changes it.
func TestWhatIsShownIsReadOutsideOfTheWrite(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		member := w.A.Users[principal.Member]
		s := open(t, w, purchase(member, nil, nil))
		s.work()
		r := s.priced()
		id := s.approval(r).ID
		want := []string{"Ask for the price: Price in euros = 1200", `Ask for the price: Delivery time = "2 weeks"`, "Net price: Per month = 100"}
		me, _ := principal.From(w.AsUser(member))
		decision := run.DecideApprovalInput{ByID: op.ByID{ID: id}, Decision: "APPROVE"}
		ready, err := op.Prepare(s.ctx, w.Engine, me, run.DecideApproval, decision)
		require.NoError(t, err)
		require.NoError(t, w.Store.Write(s.ctx, func(ctx context.Context, tx *store.Tx) error {
			return tx.PhaseVisit.Update().Where(phasevisit.ExecutionID(*r.ExecutionID)).ClearOutput().Exec(ctx)
		}))
		require.NoError(t, w.Engine.WorkAs(s.ctx, me, func(ctx context.Context, tx *op.Tx) error {
			a, err := op.RunReady(ctx, tx, run.DecideApproval, ready)
			if err == nil {
				require.Equal(t, want, saidIn(t, a.Shown))
			}
			return err
		}))
		s.at(r, "WAITING", "order")
		one := s.task(r)
		done := run.CompleteTaskInput{ByID: op.ByID{ID: one.ID}}
		owner, _ := principal.From(s.ctx)
		complete, err := op.Prepare(s.ctx, w.Engine, owner, run.CompleteTask, done)
		require.NoError(t, err)
		require.NoError(t, w.Store.Write(s.ctx, func(ctx context.Context, tx *store.Tx) error {
			return tx.PhaseVisit.Update().Where(phasevisit.ExecutionID(*r.ExecutionID)).ClearOutput().Exec(ctx)
		}))
		require.NoError(t, w.Engine.WorkAs(s.ctx, owner, func(ctx context.Context, tx *op.Tx) error {
			out, err := op.RunReady(ctx, tx, run.CompleteTask, complete)
			if err == nil {
				require.Equal(t, []string{`Ask: Outcome = "Approved"`}, saidIn(t, out.Shown))
			}
			return err
		}))
	})
}

func saidIn(t *testing.T, raw json.RawMessage) []string {
	t.Helper()
	var list []*run.Shown
	require.NoError(t, json.Unmarshal(raw, &list))
	return said(list)
}

// A loop starts anew with the decision that has sent it back: only the last price counts, after what was decided about the one before.
func TestALoopShowsItsLastResults(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		member := w.A.Users[principal.Member]
		s := open(t, w, purchase(member, nil, nil))
		s.work()
		r := s.priced()
		require.NoError(t, s.decide(member, s.approval(r).ID, "REJECT"))
		s.at(r, "WAITING", "price")
		require.Equal(t, []string{`Ask: Outcome = "Rejected"`}, s.taskShows(w.A.Owner, s.task(r).ID))
		s.complete(r, "", body{"amount": 600})
		s.at(r, "WAITING", "ask")
		require.Equal(t, []string{`Ask: Outcome = "Rejected"`, "Ask for the price: Price in euros = 600", "Net price: Per month = 50"}, s.approvalShows(member, r))
	})
}

// A phase may choose what it shows: the order shows the price, which was decided on before, and the approval shows nothing.
func TestPhasesChooseWhatTheyShow(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		member := w.A.Users[principal.Member]
		s := open(t, w, purchase(member, body{"shows": []string{}}, body{"shows": []string{"price", "check"}}))
		s.work()
		r := s.priced()
		require.Empty(t, s.approvalShows(member, r))
		require.NoError(t, s.decide(member, s.approval(r).ID, "APPROVE"))
		s.at(r, "WAITING", "order")
		id := s.task(r).ID
		want := []string{"Ask for the price: Price in euros = 1200", `Ask for the price: Delivery time = "2 weeks"`}
		require.Equal(t, want, s.taskShows(w.A.Owner, id))
		require.Equal(t, want, saidIn(t, testkit.Run(t, w, s.ctx, run.GetTask, op.ByID{ID: id}).Shown))
		list := testkit.Run(t, w, s.ctx, run.ListTasks, run.ListTasksInput{Status: []string{"OPEN"}})
		require.Equal(t, want, saidIn(t, list.Rows[0].Shown))
		claimed := testkit.Run(t, w, s.ctx, run.ClaimTask, op.ByID{ID: id})
		require.Equal(t, want, saidIn(t, claimed.Shown), "every answer about a task has it")

		// To erase what somebody has answered takes it out of here, too.
		require.NoError(t, w.Store.Write(s.ctx, func(ctx context.Context, tx *store.Tx) error {
			_, _, err := run.EraseAnswers(ctx, tx.Client, w.A.Owner.ID, "", 10)
			return err
		}))
		require.Empty(t, s.taskShows(w.A.Owner, id))
	})
}

// A sign-off shows the result on which it decides, with secrets masked, and what the task has shown. What follows shows what was signed off.
func TestSignOffsShowTheResult(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		member := w.A.Users[principal.Member]
		made := phase("made", "PROCESS", body{"form": body{"fields": []body{{"key": "key", "label": "Key", "type": "text"}, {"key": "where", "label": "Where", "type": "text"}}}})
		made["participants"] = []body{{"role": "accountable", "type": "user", "id": member.ID}}
		s := withSecret(t, w, line([]body{phase("start", "START", nil), phase("before", "PROCESS", nil), made, phase("after", "PROCESS", nil), phase("end", "END", nil)},
			body{"from": "made", "name": "not_needed", "to": "end"}))
		s.work()
		r := s.file(nil)
		s.at(r, "WAITING", "before")
		s.complete(r, "", body{"room": "12"})
		s.at(r, "WAITING", "made")
		s.complete(r, "not_needed", body{"key": canary, "where": "In the safe"})
		waits := func() *ent.Approval {
			s.t.Helper()
			require.Eventually(t, func() bool {
				n, err := w.Store.Reader().Approval.Query().Where(approval.StatusEQ(approval.StatusPENDING)).Count(s.ctx)
				return err == nil && n == 1
			}, patience, tick)
			return s.approval(r)
		}
		refused := waits()
		want := []string{`Before: Room = "12"`, `Made: Outcome = "Not needed"`, `Made: Key = "***"`, `Made: Where = "In the safe"`}
		require.Equal(t, want, s.approvalShows(member, r))
		require.NoError(t, s.decide(member, refused.ID, "REJECT"))
		require.Eventually(t, func() bool { return len(s.tasks(r, "OPEN")) == 1 }, patience, tick)
		s.complete(r, "", body{"where": "At the desk"})
		require.NoError(t, s.decide(member, waits().ID, "APPROVE"))
		s.at(r, "WAITING", "after")
		require.Equal(t, []string{`Made: Outcome = "Next"`, `Made: Where = "At the desk"`}, s.taskShows(w.A.Owner, s.task(r).ID), "no more of what was before")
	})
}

// What a phase in a branch shows are the results of its branch and those before the block. After the block, those of all its branches
// show, but for those of a branch that was cancelled.
func TestBranchesShowTheirOwnResults(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		d := prepare(w, "1d", body{"join": 2})
		phases := d["phases"].([]body)
		phases = append(phases, phase("first", "PROCESS", nil))
		d["phases"] = phases
		d["transitions"] = append(d["transitions"].([]body)[1:], body{"from": "start", "name": "next", "to": "first"}, body{"from": "first", "name": "next", "to": "prepare"})
		s := open(t, w, d)
		s.work()
		admin := w.A.Users[principal.Admin]
		r := s.file(nil)
		s.finishIn(r, "first", body{"floor": 3})
		s.standsIn(r, "order", "access", "rest")
		s.finishIn(r, "order", body{"serial": "X1"})
		s.standsIn(r, "unpack", "access", "rest")
		require.Equal(t, []string{"First: Floor = 3", `Laptop · Order: Serial = "X1"`}, s.taskShows(w.A.Owner, s.task(r).ID))
		require.Equal(t, []string{"First: Floor = 3"}, s.approvalShows(admin, r))
		require.NoError(t, s.decide(admin, s.approval(r).ID, "APPROVE"))
		s.finishIn(r, "unpack", body{"colour": "red"})
		s.at(r, "WAITING", "after")
		require.Equal(t, []string{`Laptop · Order: Serial = "X1"`, `Access · Access: Outcome = "Approved"`, `Laptop · Unpack: Colour = "red"`},
			s.taskShows(w.A.Owner, s.task(r).ID), "the approval has decided on what was before its branch, not on other branches")
	})
}

// What is shown is bounded: 50 values of a phase, each of 1,000 characters.
func TestShownIsBounded(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		s := open(t, w, purchase(w.A.Users[principal.Member], nil, nil))
		s.publish(line([]body{phase("start", "START", nil), phase("many", "PROCESS", nil), phase("last", "PROCESS", nil), phase("end", "END", nil)}))
		s.work()
		r := s.file(nil)
		s.at(r, "WAITING", "many")
		all := body{"a_text": strings.Repeat("ä", 2000), "b_list": []string{strings.Repeat("x", 600), strings.Repeat("y", 600)}, "c_list": []string{"one", "two"}}
		for i := range 60 {
			all[fmt.Sprintf("n%02d", i)] = i
		}
		s.complete(r, "", all)
		s.at(r, "WAITING", "last")
		var shown []*run.Shown
		require.NoError(t, json.Unmarshal(testkit.Run(t, w, s.ctx, run.GetTask, op.ByID{ID: s.task(r).ID}).Shown, &shown))
		require.Len(t, shown, 1)
		require.Len(t, shown[0].Fields, 50)
		value := func(i int) (text string) {
			require.NoError(t, json.Unmarshal(shown[0].Fields[i].Value, &text))
			return text
		}
		require.Equal(t, strings.Repeat("ä", 999)+"…", value(0))
		require.Len(t, []rune(value(1)), 1000)
		require.Equal(t, "text", shown[0].Fields[1].Type, "as it is cut")
		require.Equal(t, []string{"list", `["one","two"]`}, []string{shown[0].Fields[2].Type, string(shown[0].Fields[2].Value)})
	})
}

// The mails of an approval and of a task list what these show, in the reader's language: people by their names, and 20 values at most.
func TestMailsTellWhatIsShown(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		mails := &posted{sent: map[string][]string{}}
		w.Engine.Mailer = mails
		approver, worker := w.A.Users[principal.Member], w.A.Users[principal.Agent]
		for _, role := range []principal.Role{principal.Member, principal.Agent} {
			testkit.Run(t, w, w.As(w.A, role), people.UpdateViewer, people.UpdateViewerInput{Locale: op.SetTo("de")})
		}
		price := phase("price", "PROCESS", body{"form": body{"fields": []body{
			{"key": "amount", "label": "Preis", "type": "number"}, {"key": "urgent", "label": "Eilig", "type": "boolean"},
			{"key": "buyer", "label": "Einkauf", "type": "user"}, {"key": "note", "label": "Notiz", "type": "textarea"},
		}}})
		order := phase("order", "PROCESS", nil)
		order["participants"] = []body{{"role": "responsible", "type": "user", "id": worker.ID}}
		d := line([]body{phase("start", "START", nil), price, phase("more", "PROCESS", nil), phase("ask", "APPROVAL", body{"mode": "any", "approvers": []body{person(approver)}})},
			body{"from": "ask", "name": "approved", "to": "order"}, body{"from": "ask", "name": "rejected", "to": "done"}, body{"from": "order", "name": "next", "to": "done"})
		d["phases"] = append(d["phases"].([]body), order, phase("done", "END", nil))
		s := open(t, w, d)
		w.Engine.Events = append(events.Subscribers{}, run.Follow(w.Queue), notice.Follow(w.Queue))
		s.workLogged(io.Discard, notice.Work(w.Engine, notice.Reads{Request: request.Get.Info(), Task: run.GetTask.Info(), Shown: run.MailedWithTask}))
		r := s.file(nil)
		s.finishIn(r, "price", body{"amount": 1200, "urgent": true, "buyer": worker.ID, "note": "Zwei\nZeilen"})
		many := body{}
		for i := range 25 {
			many[fmt.Sprintf("k%02d", i)] = i
		}
		s.finishIn(r, "more", many)
		s.at(r, "WAITING", "ask")
		require.Eventually(t, func() bool { return len(mails.to(approver.Email)) > 0 }, patience, tick)
		mail := mails.to(approver.Email)[0]
		require.Contains(t, mail, "\nAus früheren Schritten:\nPreis: 1200\nEilig: Ja\nEinkauf: "+worker.Name+"\nNotiz: Zwei Zeilen\nK00: 0\n")
		require.Contains(t, mail, "\nK15: 15\n")
		require.NotContains(t, mail, "K16")

		require.NoError(t, s.decide(approver, s.approval(r).ID, "APPROVE"))
		require.Eventually(t, func() bool { return len(mails.to(worker.Email)) > 0 }, patience, tick)
		require.Contains(t, mails.to(worker.Email)[0], "\nAus früheren Schritten:\nErgebnis: Genehmigt\n")
		require.NotContains(t, mails.open, approver.Email, "the requester may not read it: answers are notes for staff")
		require.NotContains(t, mails.open, worker.Email)
	})
}

// What leads to a visit follows from the history alone, whose lines have a number, a type, a branch and, of a branch that was cut off, an x.
func TestWhatLeadsToAVisit(t *testing.T) {
	t.Parallel()
	const (
		two   = "1 DATA; 2 PARALLEL; 3 DATA A; 4 DATA C; 5 DATA A; 6 JOIN; 7 DATA"
		loop  = "1 PARALLEL; 2 DATA A; 3 PROCESS C x; 4 JOIN; 5 DATA; 6 PARALLEL; 7 DATA A; 8 DATA C"
		each  = "1 FOR_EACH; 2 DATA 1; 3 DATA 2; 4 DATA 1; 5 JOIN"
		inner = "1 PARALLEL; 2 FOR_EACH A; 3 DATA A / 1; 4 DATA C; 5 DATA A / 2; 6 JOIN A; 7 DATA A"
		broke = "1 PARALLEL; 2 FOR_EACH A x; 3 DATA A / 1; 4 DATA C; 5 JOIN"
	)
	for _, c := range []struct {
		history, branch string
		want            []int
	}{
		{"1 START; 2 PROCESS; 3 DATA", "", []int{1, 2, 3}},
		{two, "", []int{1, 2, 3, 4, 5, 6, 7}},
		{"1 DATA; 2 PARALLEL; 3 DATA A; 4 DATA C; 5 DATA A", "A", []int{1, 2, 3, 5}},
		{"1 DATA; 2 PARALLEL; 3 DATA A; 4 DATA C", "B", []int{1, 2}},
		{loop, "A", []int{1, 2, 4, 5, 6, 7}},
		{loop, "C", []int{1, 2, 4, 5, 6, 8}},
		{each, "", []int{1, 2, 3, 4, 5}},
		{"1 FOR_EACH; 2 DATA 1; 3 DATA 2; 4 DATA 11", "1", []int{1, 2}},
		{inner, "A", []int{1, 2, 3, 5, 6, 7}},
		{inner, "C", []int{1, 4}},
		{"1 PARALLEL; 2 FOR_EACH A; 3 DATA A / 1; 4 DATA A / 2", "A / 2", []int{1, 2, 4}},
		{broke, "", []int{1, 4, 5}},
	} {
		var history []*ent.PhaseVisit
		for line := range strings.SplitSeq(c.history, "; ") {
			words := strings.SplitN(line, " ", 3)
			v := &ent.PhaseVisit{Type: words[1], Status: phasevisit.StatusCOMPLETED, Transition: "next"}
			_, err := fmt.Sscan(words[0], &v.Number)
			require.NoError(t, err)
			if len(words) == 3 {
				branch, cut := strings.CutSuffix(words[2], " x")
				if v.Branch = &branch; cut {
					v.Status, v.Transition = phasevisit.StatusSKIPPED, ""
				}
			}
			history = append(history, v)
		}
		var got []int
		for _, v := range run.OnTheWay(history, c.branch) {
			got = append(got, v.Number)
		}
		require.Equal(t, c.want, got, "%q in %s", c.branch, c.history)
	}
}

// A CALL_WORKFLOW shows what the phases of the called workflow have left behind.
func TestCalledWorkflowsAreShown(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		s := caller(t, w, tower(t, w, 1).ID, body{"input": body{"n": 1}})
		s.work()
		r := s.file(nil)
		s.finishIn(r, "order", body{"unit_price": 3})
		s.at(r, "WAITING", "after")
		require.Equal(t, []string{"Call: Count: N = 2", "Call: Order: Unit price = 3"}, s.taskShows(w.A.Owner, s.task(r).ID))
	})
}
