package request

import (
	"time"

	"atrium/ent"
	"atrium/ent/request"
	"atrium/internal/apperr"
	"atrium/internal/events"
)

// arrow is one way out of a status.
type arrow struct {
	from  []request.Status
	verb  string // the right it takes
	event string
	stamp func(*ent.RequestUpdateOne, time.Time) *ent.RequestUpdateOne
}

// arrows are the transitions by the status that they lead to.
var arrows = map[request.Status]arrow{
	request.StatusIN_PROGRESS: {
		from: []request.Status{request.StatusPENDING},
		verb: "request.accept", event: events.RequestAccepted, stamp: (*ent.RequestUpdateOne).SetAcceptedAt,
	},
	request.StatusCOMPLETED: {
		from: []request.Status{request.StatusIN_PROGRESS},
		verb: "request.complete", event: events.RequestCompleted, stamp: (*ent.RequestUpdateOne).SetCompletedAt,
	},
	request.StatusCANCELLED: {
		from: []request.Status{request.StatusPENDING, request.StatusIN_PROGRESS},
		verb: "request.cancel", event: events.RequestCancelled, stamp: (*ent.RequestUpdateOne).SetCancelledAt,
	},
}

// move puts the transition to a status into the update, and returns the event that it is. Conflict when no arrow leads
// there from where the request is.
func move(u *ent.RequestUpdateOne, from, to request.Status, now time.Time) (event string, err error) {
	a, ok := arrows[to]
	if ok {
		for _, f := range a.from {
			if f == from {
				a.stamp(u.SetStatus(to), now)
				return a.event, nil
			}
		}
	}
	return "", apperr.New(apperr.Conflict, "A request that is %s cannot become %s.", from, to)
}
