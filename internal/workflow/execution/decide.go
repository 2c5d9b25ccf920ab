package execution

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"atrium/ent"
	"atrium/ent/approval"
	"atrium/internal/op"
	"atrium/internal/op/events"
	"atrium/internal/platform/apperr"
	"atrium/internal/workflow/definition"
	"atrium/internal/workflow/engine"
)

// DecideApprovalInput is a decision.
type DecideApprovalInput struct {
	op.ByID
	Decision string  `json:"decision" enum:"APPROVE,REJECT" doc:"Whether the caller approves."`
	Comment  *string `json:"comment,omitempty" nullable:"true" maxLength:"2000" doc:"What the caller says about it."`
}

// turn is the turn of a user to decide an approval.
type turn struct {
	places    []int // in which the user may decide, as indexes of approvers
	decisions []*Decision
	config    *definition.ApprovalConfig
}

// turnOf returns the turn of the user me, for whom the ids stand among approvers. Returns forbidden if the user is no approver, and
// conflict if the user has decided already, if it is another approver's turn, or if the approval has ended.
func turnOf(a *ent.Approval, ids []string, me string, now time.Time) (t turn, err error) {
	mine, err := approverIndexes(a, ids)
	if err != nil {
		return t, err
	}
	if len(mine) == 0 {
		return t, apperr.New(apperr.Forbidden, "Only the approvers decide.")
	}
	if t.decisions, err = undecided(a, now); err != nil {
		return t, err
	}
	if t.config, err = configOf(a); err != nil {
		return t, err
	}
	if slices.ContainsFunc(t.decisions, func(d *Decision) bool { return d.By == me }) {
		return t, apperr.New(apperr.Conflict, "You have decided already.")
	}
	open := engine.Turn(t.config, votesOf(t.decisions))
	for _, i := range mine {
		if slices.Contains(open, i) {
			t.places = append(t.places, i)
		}
	}
	if len(t.places) == 0 {
		return t, apperr.New(apperr.Conflict, "It is not your turn: somebody else has decided in your place, or decides first.")
	}
	return t, nil
}

// place returns the place in which the user me decides about what filer filed: one after which as many of the others as possible can still be filled. Who is
// named in person and is in a team that decides too leaves the team to its other members.
func (t turn) place(ctx context.Context, tx *op.Tx, me string, filers []string) (int, error) {
	if len(t.places) == 1 {
		return t.places[0], nil
	}
	all := tx.Unfiltered(ctx, "who is left to decide, whatever the caller sees of them")
	seats, err := lookUpSeats(all, tx.Client, participantsOf(t.config), votesOf(t.decisions), append(filers, me)...)
	if err != nil {
		return 0, err
	}
	best, most := 0, -1
	for _, i := range t.places {
		rest := slices.Clone(seats)
		rest[i] = nil
		if n := engine.Seated(rest); n > most {
			best, most = i, n
		}
	}
	return best, nil
}

// decision is a decision before its transaction: what its row shows, and the comment without the company's secrets.
type decision struct {
	shown   earlier
	comment string
}

func (d decision) earlier() json.RawMessage { return d.shown.earlier() }

func prepareDecision(ctx context.Context, tx *op.Tx, in DecideApprovalInput) (any, error) {
	shown, err := prepareShownTo(ctx, tx, in.ID)
	if err != nil || shown == nil {
		return nil, err
	}
	comment, err := hidden(ctx, tx, op.Or(in.Comment, ""))
	return decision{shown.(earlier), comment}, err
}

// decideApproval records the caller's decision, if it is the caller's turn.
func decideApproval(ctx context.Context, tx *op.Tx, a *ent.Approval, in DecideApprovalInput) (*ent.Approval, error) {
	prepared, ok := op.Preparation[decision](tx)
	if !ok {
		return nil, op.ErrOutdated
	}
	ids, err := callerIDs(ctx, tx)
	if err != nil {
		return nil, err
	}
	me := tx.Principal().ID
	t, err := turnOf(a, ids, me, tx.Now(ctx))
	if err != nil {
		return nil, err
	}
	filers, err := filersOf(ctx, tx, a)
	if err != nil {
		return nil, err
	}
	if slices.Contains(filers[a.ID], me) {
		return nil, apperr.New(apperr.Forbidden, "Nobody decides on their own request, or on one that they filed: delegate the approval.")
	}
	place, err := t.place(ctx, tx, me, filers[a.ID])
	if err != nil {
		return nil, err
	}
	t.decisions = append(t.decisions, &Decision{
		Vote: engine.Vote{Approver: place, By: me, Approve: in.Decision == "APPROVE"}, Comment: prepared.comment, At: tx.Now(ctx),
	})
	raw, err := encode(t.decisions)
	if err != nil {
		return nil, err
	}
	u := a.Update().SetDecisions(raw)
	if settled := engine.Settled(t.config, votesOf(t.decisions)); settled != "" {
		u.SetStatus(approval.Status(settled))
	}
	after, err := u.Save(ctx)
	if err != nil {
		return nil, fmt.Errorf("decide the approval: %w", err)
	}
	tx.Changed(a, after)
	if after.Status != a.Status {
		if err := emitApproval(ctx, tx, events.ApprovalDecided, after); err != nil {
			return nil, err
		}
	}
	return after, insertStep(ctx, tx, a.ExecutionID)
}
