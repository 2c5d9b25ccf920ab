package execution

import (
	"context"
	"fmt"
	"slices"
	"time"

	"atrium/ent"
	"atrium/ent/approval"
	"atrium/ent/predicate"
	"atrium/ent/request"
	"atrium/ent/teammember"
	"atrium/ent/user"
	"atrium/internal/desk/participant"
	"atrium/internal/identity/access"
	"atrium/internal/notify/notice"
	"atrium/internal/op"
	"atrium/internal/op/paging"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/strictjson"
	"atrium/internal/workflow/definition"
	"atrium/internal/workflow/engine"
)

var approvalSorts = op.Sorts{"createdAt": approval.FieldCreatedAt, "updatedAt": approval.FieldUpdatedAt}

// The operations on approvals. Members reach the approvals that they may decide, and read those about which a workflow asks them. Lists have
// the latter only for given requests or executions, as those of tasks.
var (
	ListApprovals = op.New("approval.list", op.Spec{
		Resource: "Approval", Action: op.Read, Scope: "requests:read", Sorts: approvalSorts, Summary: "List approvals",
	}, listApprovals)

	GetApproval = op.OnRow("approval.read", op.Spec{
		Resource: "Approval", Action: op.Read, Scope: "requests:read", Summary: "Get an approval",
	}, loadApproval, withShown(ofApprovals)).Reaching(participant.SeesApproval)

	DecideApproval = op.OnRow("approval.decide", op.Spec{
		Resource: "Approval", Action: op.Update, Scope: "requests:write", Summary: "Approve or reject, as one of the approvers",
	}, loadApproval, showing(shownByApproval, decideApproval)).Reaching(participant.InApproval).Prepared(prepareDecision)

	// MayDecide returns, by id, which of several approvals the caller may decide now: those of which DecideApproval would take a
	// decision. It is for approvals that the caller has read.
	MayDecide = op.New("approval.may_decide", op.Spec{
		Resource: "Approval", Action: op.Read, Scope: "requests:read", Summary: "Look up which approvals the caller may decide",
	}, mayDecide)

	DelegateApproval = op.OnRow("approval.delegate", op.Spec{
		Resource: "Approval", Action: op.Update, Scope: "requests:write", Summary: "Let another person decide in one's place",
	}, loadApproval, showing(shownByApproval, delegateApproval)).Reaching(participant.InApproval).Prepared(func(ctx context.Context, tx *op.Tx, in DelegateApprovalInput) (any, error) {
		return prepareShownTo(ctx, tx, in.ID)
	})
)

// Approver is a user, or a team any member of which may decide.
type Approver struct {
	Type string `json:"type"`
	ID   string `json:"id"`
}

// ApproversOf returns an approval's approvers. Votes refer to them by their index.
func ApproversOf(a *ent.Approval) ([]*Approver, error) {
	return strictjson.List[Approver](a.Approvers, "approvers", a.ID)
}

// ListApprovalsInput filters and pages the list.
type ListApprovalsInput struct {
	paging.Page
	Status      []string `json:"-" query:"status" enum:"PENDING,APPROVED,REJECTED,EXPIRED,CANCELLED"`
	ExecutionID []string `json:"-" query:"executionId" maxLength:"64"`
	RequestID   []string `json:"-" query:"requestId" maxLength:"64"`
}

func approvalsOf(_ context.Context, tx *op.Tx, in ListApprovalsInput) *ent.ApprovalQuery {
	var where []predicate.Approval
	if tx.AssignedOnly() {
		reached := participant.Approves(tx.Principal().ID)
		if len(in.RequestID)+len(in.ExecutionID) > 0 {
			reached = approval.Or(reached, participant.AskedToo(tx.Principal().ID))
		}
		where = append(where, reached)
	}
	where = paging.In(where, in.Status, approval.StatusIn)
	where = paging.In(where, in.ExecutionID, approval.ExecutionIDIn)
	where = paging.In(where, in.RequestID, approval.RequestIDIn)
	return tx.Approval.Query().Where(where...)
}

// callerIDs returns the ids that stand for the caller among approvers: the caller's own, and those of the caller's teams.
func callerIDs(ctx context.Context, tx *op.Tx) ([]string, error) {
	me := tx.Principal().ID
	teams, err := tx.TeamMember.Query().Where(teammember.UserID(me)).Select(teammember.FieldTeamID).
		Strings(tx.Unfiltered(ctx, "who decides for a team does so whatever it sees of it"))
	if err != nil {
		return nil, fmt.Errorf("read the caller's teams: %w", err)
	}
	return append(teams, me), nil
}

func loadApproval(ctx context.Context, tx *op.Tx, id string) (*ent.Approval, error) {
	return op.Lock(tx, tx.Approval.Query().Where(approval.ID(id))).Only(ctx)
}

// mayDecide takes three statements, however many approvals it is asked about.
func mayDecide(ctx context.Context, tx *op.Tx, in paging.ByIDs) (map[string]bool, error) {
	rows, err := approvalsOf(ctx, tx, ListApprovalsInput{}).Where(approval.IDIn(in.IDs...)).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the approvals: %w", err)
	}
	ids, err := callerIDs(ctx, tx)
	if err != nil {
		return nil, err
	}
	filers, err := filersOf(ctx, tx, rows...)
	if err != nil {
		return nil, err
	}
	out := make(map[string]bool, len(rows))
	for _, a := range rows {
		if slices.Contains(filers[a.ID], tx.Principal().ID) {
			continue
		}
		_, err := turnOf(a, ids, tx.Principal().ID, tx.Now(ctx))
		if code := apperr.CodeOf(err); err != nil && (code == apperr.Forbidden || code == apperr.Conflict) {
			continue // not the caller's turn
		}
		if err == nil {
			out[a.ID], err = tx.Permits(ctx, DecideApproval.Info(), a)
		}
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// filersOf returns who filed the requests of some approvals and for whom, by the approval's id. They do not decide on them.
func filersOf(ctx context.Context, tx *op.Tx, approvals ...*ent.Approval) (map[string][]string, error) {
	var ids []string
	for _, a := range approvals {
		if a.RequestID != nil {
			ids = append(ids, *a.RequestID)
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	rows, err := tx.Request.Query().Where(request.IDIn(ids...)).Select(request.FieldID, request.FieldCreatedBy, request.FieldRequesterID).
		All(tx.Unfiltered(ctx, "whose request it is does not decide on it, whatever the caller sees of it"))
	if err != nil {
		return nil, fmt.Errorf("look up who filed the requests: %w", err)
	}
	filers := map[string][]string{}
	for _, a := range approvals {
		for _, r := range rows {
			if a.RequestID != nil && *a.RequestID == r.ID {
				filers[a.ID] = []string{r.CreatedBy, r.RequesterID}
			}
		}
	}
	return filers, nil
}

// approverIndexes returns the indexes of the approvers that have one of the ids.
func approverIndexes(a *ent.Approval, ids []string) ([]int, error) {
	approvers, err := ApproversOf(a)
	if err != nil {
		return nil, err
	}
	var mine []int
	for i, one := range approvers {
		if slices.Contains(ids, one.ID) {
			mine = append(mine, i)
		}
	}
	return mine, nil
}

// participantsOf returns the approvers of an approval as participants.
func participantsOf(c *definition.ApprovalConfig) []definition.Participant {
	out := make([]definition.Participant, len(c.Approvers))
	for i, one := range c.Approvers {
		out[i] = definition.Participant{Type: one.Type, ID: one.ID, Answer: one.Answer, Phase: one.Phase, Said: one.Said}
	}
	return out
}

// undecided returns the decisions made so far; conflict when the approval has ended.
func undecided(a *ent.Approval, now time.Time) ([]*Decision, error) {
	if a.Status != approval.StatusPENDING {
		return nil, apperr.New(apperr.Conflict, "The approval is %s.", a.Status)
	}
	if a.ExpiresAt != nil && !now.Before(*a.ExpiresAt) {
		return nil, apperr.New(apperr.Conflict, "The approval has expired.")
	}
	return DecisionsOf(a)
}

func votesOf(decisions []*Decision) []engine.Vote {
	votes := make([]engine.Vote, len(decisions))
	for i, d := range decisions {
		votes[i] = d.Vote
	}
	return votes
}

// configOf returns the rules of an approval in the engine's form.
func configOf(a *ent.Approval) (*definition.ApprovalConfig, error) {
	approvers, err := ApproversOf(a)
	if err != nil {
		return nil, err
	}
	c := &definition.ApprovalConfig{Mode: definition.ApprovalMode(a.Mode), Quorum: a.Quorum, Order: definition.Parallel}
	if a.Sequential {
		c.Order = definition.Sequential
	}
	for _, one := range approvers {
		c.Approvers = append(c.Approvers, definition.Approver{Type: one.Type, ID: one.ID})
	}
	return c, nil
}

// maxRechecked limits the executions that one transaction has check their approvals.
const maxRechecked = 1000

// ApproversLeft makes executions check again whether their pending approvals can still be given: approvals whose approvers
// include a user who leaves, one of that user's teams, or a team that loses members. Call it in the transaction of that change,
// before the memberships end. Returns conflict when there are more than 1000.
func ApproversLeft(ctx context.Context, tx *op.Tx, id string) error {
	waiting, err := tx.Approval.Query().Where(approval.StatusEQ(approval.StatusPENDING), participant.Approves(id)).Limit(maxRechecked + 1).
		Select(approval.FieldExecutionID).Strings(tx.Unfiltered(ctx, "who leaves decides nothing, whatever the caller sees"))
	if err != nil {
		return fmt.Errorf("look for approvals that wait: %w", err)
	}
	if len(waiting) > maxRechecked {
		return apperr.New(apperr.Conflict, "More than %d approvals wait for them. Delegate some of them first.", maxRechecked)
	}
	for _, id := range waiting {
		if err := insertStep(ctx, tx, id); err != nil {
			return err
		}
	}
	return nil
}

// DelegateApprovalInput says who decides in the caller's place.
type DelegateApprovalInput struct {
	op.ByID
	UserID     string  `json:"userId" minLength:"1" maxLength:"64" doc:"An active user who is no approver and has not filed the request." example:"usr_01k9ye4ryzf7stj6dqnm8x2v3b"`
	ApproverID *string `json:"approverId,omitempty" nullable:"true" maxLength:"64" doc:"In whose place; the caller's own when not given. Another's takes the rights of an admin."`
}

// delegateApproval replaces an approver by another user.
func delegateApproval(ctx context.Context, tx *op.Tx, a *ent.Approval, in DelegateApprovalInput) (*ent.Approval, error) {
	decisions, err := undecided(a, tx.Now(ctx))
	if err != nil {
		return nil, err
	}
	approvers, err := ApproversOf(a)
	if err != nil {
		return nil, err
	}
	from := op.Or(in.ApproverID, tx.Principal().ID)
	if from != tx.Principal().ID {
		if err := tx.May(ctx, "approval.reassign"); err != nil {
			return nil, err
		}
	}
	place := slices.IndexFunc(approvers, func(one *Approver) bool { return one.ID == from })
	switch {
	case place < 0 && in.ApproverID != nil:
		return nil, apperr.InvalidField("approverId", "is no approver")
	case place < 0:
		return nil, apperr.New(apperr.Forbidden, "Only an approver who is named in person delegates.")
	case slices.ContainsFunc(decisions, func(d *Decision) bool { return d.Approver == place }):
		return nil, apperr.New(apperr.Conflict, "The approver has decided already.")
	}
	filers, err := filersOf(ctx, tx, a)
	if err != nil {
		return nil, err
	}
	var refs op.Refs
	refs.Check("userId", &in.UserID, "active user", op.FindShared(ctx, tx, func(id string) *ent.UserQuery {
		return tx.User.Query().Where(user.ID(id), access.Here()) // a deactivation waits, and sees the approval
	}))
	if slices.ContainsFunc(approvers, func(one *Approver) bool { return one.ID == in.UserID }) {
		refs.Fault("userId", "is an approver already")
	}
	if slices.ContainsFunc(decisions, func(d *Decision) bool { return d.By == in.UserID }) {
		refs.Fault("userId", "has decided already")
	}
	if slices.Contains(filers[a.ID], in.UserID) {
		refs.Fault("userId", "is whom the request is for or who filed it, and so does not decide on it")
	}
	if err := refs.Err(); err != nil {
		return nil, err
	}
	approvers[place] = &Approver{Type: "user", ID: in.UserID}
	raw, err := encode(approvers)
	if err != nil {
		return nil, err
	}
	after, err := a.Update().SetApprovers(raw).Save(ctx)
	if err != nil {
		return nil, fmt.Errorf("delegate the approval: %w", err)
	}
	tx.Changed(a, after)
	return after, tx.Insert(ctx, NoticeArgs{
		Company: a.CompanyID, Execution: a.ExecutionID, Occasion: notice.Approval, Approval: a.ID, What: a.Title, Users: []string{in.UserID},
	}, time.Time{})
}
