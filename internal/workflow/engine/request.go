package engine

import (
	"fmt"
	"maps"

	"atrium/internal/workflow/definition"
)

// The statuses of a request, as the API spells them.
const (
	pending    = "PENDING"
	inProgress = "IN_PROGRESS"
	completed  = "COMPLETED"
	cancelled  = "CANCELLED"
)

// actOnRequest performs the phase's requestAction. It does nothing if the request has that status already. To complete
// a request that nobody has accepted, it accepts it first. In a called execution it does nothing. Returns false, after opening an incident,
// when the request does not allow the action.
func (r *run) actOnRequest(p *definition.Phase) bool {
	if p.RequestAction == definition.NoAction || r.env.Request == nil || r.env.Called {
		return true
	}
	status, _ := r.env.Request["status"].(string)
	switch p.RequestAction {
	case definition.Accept:
		switch status {
		case pending:
			r.act(p, definition.Accept, inProgress)
		case cancelled:
			return r.conflict(p, status)
		}
	case definition.Complete:
		switch status {
		case pending:
			r.act(p, definition.Accept, inProgress)
			r.act(p, definition.Complete, completed)
		case inProgress:
			r.act(p, definition.Complete, completed)
		case cancelled:
			return r.conflict(p, status)
		}
	case definition.Cancel:
		switch status {
		case pending, inProgress:
			r.act(p, definition.Cancel, cancelled)
		case completed:
			return r.conflict(p, status)
		}
	}
	return true
}

func (r *run) act(p *definition.Phase, action definition.RequestAction, status string) {
	r.effects = append(r.effects, ActOnRequest{p, action})
	r.env.Request = maps.Clone(r.env.Request) // later expressions of this step see the new status
	r.env.Request["status"] = status
}

func (r *run) conflict(p *definition.Phase, status string) bool {
	r.raise(RequestConflict, fmt.Sprintf("The phase would %s the request, which is %s.", p.RequestAction, status))
	return false
}
