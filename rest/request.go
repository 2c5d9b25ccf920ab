package rest

import (
	"atrium/ent"
	"atrium/internal/desk/request"
	"atrium/internal/desk/sla"
)

// RequestSLA is where a request, or a task, stands against its service levels.
type RequestSLA struct {
	ResponseDueAt   *Time  `json:"responseDueAt" doc:"Null when there is no such target." example:"2026-03-02T10:30:00.000Z"`
	ResolutionDueAt *Time  `json:"resolutionDueAt" doc:"Null when there is no such target, and while the clock stands still." example:"2026-03-02T17:30:00.000Z"`
	State           string `json:"state" enum:"ON_TRACK,WARNING,BREACHED,MET,PAUSED"`
}

// slaOut returns nil when there are no service levels.
func slaOut(s *sla.Standing) *RequestSLA {
	if s == nil {
		return nil
	}
	return &RequestSLA{ResponseDueAt: atOrNil(s.ResponseDueAt), ResolutionDueAt: atOrNil(s.ResolutionDueAt), State: s.State}
}

func requestSLAOut(r *ent.Request) *RequestSLA {
	return slaOut(sla.StatusOf(r.SLAState, r.ResponseDueAt, r.ResolutionDueAt))
}

// Named is a user, team, service account or agent by its name.
type Named struct {
	ID   string `json:"id" example:"usr_01k9ye4ryzf7stj6dqnm8x2v3b"`
	Name string `json:"name" example:"Ada Lovelace"`
}

func namedOut(n *request.Named) Named { return Named{n.ID, n.Name} }
