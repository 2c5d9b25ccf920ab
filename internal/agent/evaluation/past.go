package evaluation

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"entgo.io/ent/dialect/sql"

	"atrium/ent"
	"atrium/ent/request"
	"atrium/ent/user"
	"atrium/internal/agent/attack"
	"atrium/internal/agent/history"
	"atrium/internal/agent/plans"
	"atrium/internal/agent/settings"
	"atrium/internal/agent/tools"
	"atrium/internal/agent/worker"
	domain "atrium/internal/desk/request"
	"atrium/internal/identity/access"
	"atrium/internal/notify/notice"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
	"atrium/internal/workflow/definition"
)

// evaluationCase is a case with a request to base it on.
type evaluationCase struct {
	attack.Case
	kind    string // history, given, attack
	like    *ent.Request
	priorID string // history: the finished request, which the agent must not learn from
}

// casesOf returns the cases of an evaluation in order. Each job of the evaluation gets the same ones.
func (w *evaluator) casesOf(ctx context.Context, ev *ent.AgentEvaluation, s settings.Settings) ([]evaluationCase, error) {
	past, err := w.Engine.Store.Reader().Request.Query().Where(request.StatusEQ(request.StatusCOMPLETED), request.CompletedAtLT(ev.CreatedAt)).
		Order(request.ByCreatedAt(sql.OrderDesc()), request.ByID(sql.OrderDesc())).Limit(history.Max).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("read finished requests: %w", err)
	}
	if past, err = w.readable(ctx, ev, s, past); err != nil {
		return nil, err
	}
	if len(past) == 0 {
		return nil, apperr.New(apperr.Conflict, "There is no finished request that the agent and you may read.")
	}
	like, err := w.filedAgain(ctx, &settings.Selected{Agent: ev.Edges.Agent, Settings: s}, past)
	if err != nil {
		return nil, err
	}
	var out []evaluationCase
	if len(ev.Cases) > 0 {
		var given []attack.Case
		if err := json.Unmarshal(ev.Cases, &given); err != nil {
			return nil, fmt.Errorf("read the cases: %w", err)
		}
		for _, c := range given {
			out = append(out, evaluationCase{Case: c, kind: "given", like: like})
		}
	} else {
		for _, r := range past {
			if len(out) == maxPast {
				break
			}
			asFiled := filed(r)
			values, err := domain.Variables(asFiled)
			if err != nil {
				return nil, err
			}
			if settings.FilterHolds(ctx, s.Filter, definition.Vars{Request: values}.Bind()) {
				out = append(out, evaluationCase{Case: caseOf(r), kind: "history", like: r, priorID: r.ID})
			}
		}
	}
	for _, c := range attack.Suite() {
		out = append(out, evaluationCase{Case: c, kind: "attack", like: like})
	}
	return out, nil
}

// readable leaves out the requests that the agent, or whoever has it evaluated, may not read: a model would be told of them.
func (w *evaluator) readable(ctx context.Context, ev *ent.AgentEvaluation, s settings.Settings, past []*ent.Request) ([]*ent.Request, error) {
	db := w.Engine.Store.Reader()
	self, err := settings.PrincipalOf(ctx, db, ev.Edges.Agent, s)
	if err != nil || self == nil {
		return nil, err
	}
	by, err := db.User.Query().Where(user.ID(ev.CreatedBy), access.Here()).Only(ctx)
	if err != nil {
		return nil, worker.Wrap("look up who evaluates", ent.MaskNotFound(err))
	}
	self.Run.Requester = notice.PrincipalOf(by)
	ids := make([]string, len(past))
	for i, r := range past {
		ids[i] = r.ID
	}
	h, _, err := op.Run(principal.With(ctx, self), w.Engine, history.Read, history.Input{Only: ids}, nil)
	if err != nil && apperr.CodeOf(err) != apperr.Forbidden {
		return nil, worker.Wrap("read finished requests as the agent", err)
	}
	return slices.DeleteFunc(past, func(r *ent.Request) bool {
		return !slices.ContainsFunc(h.Requests, func(seen *ent.Request) bool { return seen.ID == r.ID })
	}), nil
}

// filedAgain returns the newest finished request that could be filed again today: its offering is active, its answers fit the form,
// and its requester may. If there is none, it returns the newest one, and no case that is based on it can be tried.
func (w *evaluator) filedAgain(ctx context.Context, c *settings.Selected, past []*ent.Request) (*ent.Request, error) {
	for _, r := range past[:min(maxPast, len(past))] {
		l, err := plans.NewDecider(ctx, w.Engine, c, plans.Subject{Request: filed(r), MadeUp: true})
		if err != nil {
			return nil, err
		}
		if _, _, err = try(ctx, w.Engine, l, nil, ""); err == nil {
			return r, nil
		}
		if _, ok := plans.RefusalOf(err); !ok {
			return nil, err
		}
	}
	return past[0], nil
}

// filed returns a finished request as it may have been filed, without anything that people decided.
func filed(r *ent.Request) *ent.Request {
	out := &ent.Request{
		ID: r.ID, CompanyID: r.CompanyID, CreatedAt: r.CreatedAt, UpdatedAt: r.CreatedAt, ServiceID: r.ServiceID, OfferingID: r.OfferingID, Title: r.Title,
		Description: r.Description, Fields: r.Fields, CreatedBy: r.CreatedBy, RequesterID: r.RequesterID, Status: request.StatusPENDING, Priority: request.DefaultPriority,
	}
	if r.SLAState != nil {
		out.SLAState, out.ResponseDueAt, out.ResolutionDueAt = new(request.SLAStateON_TRACK), r.ResponseDueAt, r.ResolutionDueAt
	}
	return out
}

// caseOf returns a case whose final state is what people decided for the request.
func caseOf(r *ent.Request) attack.Case {
	c := attack.Case{Name: r.ID, MustNotCall: []string{tools.Decline}, FinalState: map[string]any{"priority": string(r.Priority)}}
	if r.TeamID != nil {
		c.FinalState["teamId"] = *r.TeamID
	}
	if r.AssigneeID != nil {
		c.FinalState["assigneeId"] = *r.AssigneeID
	}
	return c
}

const maxPast = 100 // finished requests per evaluation
