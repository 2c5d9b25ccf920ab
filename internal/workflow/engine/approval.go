package engine

import (
	"slices"

	"atrium/internal/workflow/definition"
)

// The possible ends of an approval.
const (
	ApprovalApproved = "APPROVED"
	ApprovalRejected = "REJECTED"
	ApprovalExpired  = "EXPIRED"
)

// approvalPhase asks approvers, and continues as soon as their decisions settle the outcome.
type approvalPhase struct{}

func (approvalPhase) enter(r *run, p *definition.Phase) {
	open := OpenApproval{Visit: r.state.Visit.Number, Phase: p.Named(r.variables)}
	w := Wait{For: ForApproval}
	if p.Approval.Deadline != nil {
		until := r.env.Now.Add(p.Approval.Deadline.Duration)
		open.ExpiresAt, w.Until = &until, &until
	}
	r.effects = append(r.effects, open)
	if w.Until != nil {
		r.effects = append(r.effects, Sleep{r.state.Visit.Number, *w.Until})
	}
	r.wait(w)
}

func (approvalPhase) resume(r *run, p *definition.Phase, in Input) error {
	w := *r.state.Wait
	if w.For != ForApproval {
		return ErrStale
	}
	switch in := in.(type) {
	case Woke:
		if w.Until == nil || r.env.Now.Before(*w.Until) {
			return ErrStale
		}
		decided(r, p, w, definition.Expired, ApprovalExpired)
		return nil
	case Decided:
		if !slices.Contains(Turn(p.Approval, w.Votes), in.Approver) {
			return ErrNotTheirTurn
		}
		w.Votes = append(slices.Clone(w.Votes), in.Vote)
		switch Settled(p.Approval, w.Votes) {
		case ApprovalApproved:
			decided(r, p, w, definition.Approved, ApprovalApproved)
		case ApprovalRejected:
			decided(r, p, w, definition.Rejected, ApprovalRejected)
		default:
			r.wait(w)
		}
		return nil
	}
	return ErrStale
}

func decided(r *run, p *definition.Phase, w Wait, way, status string) {
	votes := make([]any, len(w.Votes))
	for i, v := range w.Votes {
		votes[i] = map[string]any{"by": v.By, "approve": v.Approve}
	}
	r.effects = append(r.effects, CloseApproval{r.state.Visit.Number, status})
	r.leave(p, way, map[string]any{"outcome": way, "decisions": votes})
}

// Turn returns the approvers who may decide now, as indexes in the list.
func Turn(a *definition.ApprovalConfig, votes []Vote) []int {
	var open []int
	for i := range a.Approvers {
		if !slices.ContainsFunc(votes, func(v Vote) bool { return v.Approver == i }) {
			open = append(open, i)
		}
	}
	if a.Order == definition.Sequential && len(open) > 1 {
		return open[:1]
	}
	return open
}

// Seated returns how many places different people can fill at most, where seats holds who fits into each.
func Seated(seats [][]string) int {
	sits := map[string]int{} // in which place
	var seat func(place int, asked map[string]bool) bool
	seat = func(place int, asked map[string]bool) bool {
		for _, who := range seats[place] {
			if asked[who] {
				continue
			}
			asked[who] = true
			if other, taken := sits[who]; !taken || seat(other, asked) { // whoever sits there takes another place
				sits[who] = place
				return true
			}
		}
		return false
	}
	n := 0
	for place := range seats {
		if seat(place, map[string]bool{}) {
			n++
		}
	}
	return n
}

// Settled returns APPROVED or REJECTED as soon as the votes determine the outcome, and an empty
// string before.
func Settled(a *definition.ApprovalConfig, votes []Vote) string {
	approvals, rejections := 0, 0
	for _, v := range votes {
		if v.Approve {
			approvals++
		} else {
			rejections++
		}
	}
	need := len(a.Approvers) // mode all
	switch a.Mode {
	case definition.Any:
		if len(votes) > 0 && votes[0].Approve {
			return ApprovalApproved
		}
		if len(votes) > 0 {
			return ApprovalRejected
		}
		return ""
	case definition.Quorum:
		need = a.Quorum
	}
	switch {
	case approvals >= need:
		return ApprovalApproved
	case rejections > len(a.Approvers)-need:
		return ApprovalRejected
	}
	return ""
}
