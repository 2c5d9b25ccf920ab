package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"time"

	"atrium/ent"
	filed "atrium/ent/request"
	"atrium/internal/platform/id"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
)

const (
	seedChunk   = 1000 // rows per statement
	description = "Please have a look at this when there is time; it is not the first one of its kind."
)

// seed writes n requests ordered by time. Every run writes the same ones.
func (t *tenant) seed(ctx context.Context, s *store.Store, n int) error {
	const span = 90 * 24 * time.Hour
	rng := rand.New(rand.NewPCG(1, 2)) // a fixed seed: the same rows every time
	from := time.Now().UTC().Add(-span).Truncate(time.Millisecond)
	ctx = principal.System(ctx, "the bench seeds")
	for i := 0; i < n; i += seedChunk {
		err := s.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
			var rows []*ent.RequestCreate
			for k := i; k < min(i+seedChunk, n); k++ {
				rows = append(rows, t.row(tx.Request.Create(), rng, k, from.Add(span/time.Duration(n)*time.Duration(k))))
			}
			return tx.Request.CreateBulk(rows...).Exec(ctx)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// row builds request i, created at the given time.
func (t *tenant) row(c *ent.RequestCreate, rng *rand.Rand, i int, at time.Time) *ent.RequestCreate {
	s := t.Services[rng.IntN(len(t.Services))]
	c.SetID(id.From("req", at)).SetCompanyID(t.CompanyID).SetCreatedAt(at).SetCreatedBy(t.OwnerID).SetServiceID(s.ID).
		SetTitle(fmt.Sprintf("Request %07d: %s", i, []string{"a laptop", "a desk", "access", "a badge"}[rng.IntN(4)])).
		SetDescription(description).SetTags(map[string]string{"site": "berlin", "channel": "portal"})
	if rng.IntN(2) == 0 {
		c.SetOfferingID(s.Formed).SetFields(json.RawMessage(formFields))
	} else {
		c.SetOfferingID(s.Plain).SetFields(json.RawMessage(`{}`))
	}
	switch p := rng.IntN(100); {
	case p < 20:
		c.SetPriority(filed.PriorityLOW).SetPriorityRank(1)
	case p < 70:
		c.SetPriority(filed.PriorityMEDIUM).SetPriorityRank(2)
	case p < 90:
		c.SetPriority(filed.PriorityHIGH).SetPriorityRank(3)
	default:
		c.SetPriority(filed.PriorityURGENT).SetPriorityRank(4)
	}
	later := at.Add(time.Hour)
	switch p := rng.IntN(100); {
	case p < 40:
		c.SetStatus(filed.StatusPENDING)
	case p < 70:
		c.SetStatus(filed.StatusIN_PROGRESS).SetAcceptedAt(later)
	case p < 95:
		c.SetStatus(filed.StatusCOMPLETED).SetAcceptedAt(later).SetCompletedAt(later)
	default:
		c.SetStatus(filed.StatusCANCELLED).SetCancelledAt(later)
	}
	if id, _ := c.Mutation().ID(); i%17 == 0 && len(t.sample) < 10_000 {
		t.sample = append(t.sample, id)
	}
	return c
}
