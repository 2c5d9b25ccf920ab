package request

import (
	"context"
	"fmt"
	"slices"

	"entgo.io/ent/dialect/sql"

	"atrium/ent"
	"atrium/ent/predicate"
	"atrium/ent/request"
	"atrium/internal/op"
)

// TakeNext assigns to the caller the request of a team's inbox that is due first. Two callers never take the same request,
// because a lock lets them in one after the other. TakeNext skips requests that are snoozed, have an assignee, were accepted, or are
// hidden from the caller or not theirs to change by the company's policies.
var TakeNext = op.New("request.take_next", op.Spec{
	Resource: "Request", Action: op.Update, Scope: "requests:write",
	Summary: "Take the request of a team's inbox that is due first",
}, takeNext).WithVerbs(func(TakeNextInput) []string { return []string{"request.update"} })

// TakeNextInput names the inbox.
type TakeNextInput struct {
	TeamID string `json:"teamId" minLength:"1" maxLength:"64" doc:"The team whose inbox it is."`
}

// Taken is the result of TakeNext.
type Taken struct {
	Request *ent.Request // nil when no request waits
}

// byNextDue orders by the target that is due first, be it of the response, if there was none yet, or of the resolution.
func byNextDue(s *sql.Selector) {
	response, resolution := s.C(request.FieldResponseDueOrder), s.C(request.FieldResolutionDueOrder)
	s.OrderExpr(sql.ExprFunc(func(b *sql.Builder) {
		b.WriteString("CASE WHEN ").Ident(s.C(request.FieldFirstResponseAt)).WriteString(" IS NULL AND ").Ident(response).WriteString(" < ").Ident(resolution).
			WriteString(" THEN ").Ident(response).WriteString(" ELSE ").Ident(resolution).WriteString(" END")
	}))
}

func takeNext(ctx context.Context, tx *op.Tx, in TakeNextInput) (*Taken, error) {
	tx.Unaudited() // Update writes the entry
	var refs op.Refs
	refs.Check("teamId", &in.TeamID, "team", teamExists(ctx, tx))
	if err := refs.Err(); err != nil {
		return nil, err
	}
	if err := tx.LockName(ctx, "take/"+in.TeamID); err != nil {
		return nil, err
	}
	waiting := []predicate.Request{
		request.TeamID(in.TeamID), request.StatusEQ(request.StatusPENDING), request.AssigneeIDIsNil(),
		request.Or(request.SnoozedUntilIsNil(), request.SnoozedUntilLTE(tx.Now(ctx))),
	}
	for passed := 0; passed < maxPassedOver; passed += together {
		next, err := tx.Request.Query().Where(waiting...).
			Order(byNextDue, request.ByCreatedAt(), request.ByID()).Offset(passed).Limit(together).All(ctx)
		if err != nil {
			return nil, fmt.Errorf("look for the next request: %w", err)
		}
		for _, r := range next {
			free, err := mayTake(ctx, tx, r, waiting)
			if err != nil {
				return nil, err
			}
			if !free {
				continue
			}
			me := tx.Principal().ID
			r, err := op.RunIn(ctx, tx, Update, UpdateInput{ByID: op.ByID{ID: r.ID}, AssigneeID: op.SetTo(me)})
			if err != nil {
				return nil, err
			}
			tx.Changed(r, r) // a repeat with the same idempotency key checks that the caller may still read it
			return &Taken{r}, nil
		}
		if len(next) < together {
			break
		}
	}
	return &Taken{}, nil
}

// mayTake locks a request, and reports whether it still waits and the policies let the caller change it.
func mayTake(ctx context.Context, tx *op.Tx, r *ent.Request, waiting []predicate.Request) (bool, error) {
	may, err := tx.Permits(ctx, Update.Info(), r)
	if err != nil || !may {
		return false, err
	}
	free, err := op.Lock(tx, tx.Request.Query().Where(append(slices.Clone(waiting), request.ID(r.ID))...)).Exist(ctx)
	if err != nil {
		return false, fmt.Errorf("look at the request again: %w", err)
	}
	return free, nil // otherwise somebody was faster
}

// One call looks at 200 requests at most, 20 at a time: policies are asked about each while others wait for the inbox.
const (
	together      = 20
	maxPassedOver = 200
)
