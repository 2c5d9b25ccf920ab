package decisionlog

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"atrium/ent"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/platform/text"
)

// The bounds of the log.
const (
	Age         = 30 * 24 * time.Hour // how long a decision is stored
	Count       = 10_000              // how many decisions a company stores
	maxText     = 4096                // bytes of one attribute; a longer one is left out
	sampleQueue = 1000
	sampleBatch = 100
	sampleEvery = time.Second
)

// Sampler writes sampled decisions in batches, outside of the callers' requests. If decisions come faster than it
// writes, it drops the newest.
type Sampler struct {
	store   *store.Store
	log     *slog.Logger
	share   float64
	queue   chan Entry
	dropped atomic.Int64
}

// NewSampler samples a share (0 to 1) of the allowed calls. Nothing is written unless Run is running.
func NewSampler(s *store.Store, log *slog.Logger, share float64) *Sampler {
	return &Sampler{store: s, log: log, share: share, queue: make(chan Entry, sampleQueue)}
}

// Run writes sampled decisions until ctx ends, and then the rest.
func (s *Sampler) Run(ctx context.Context) error {
	tick := time.NewTicker(sampleEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			s.flush(ctx)
		case <-ctx.Done():
			s.flush(ctx)
			return nil
		}
	}
}

// flush writes the queued decisions, with one transaction for each company. It goes on when ctx ends: what has left the queue would
// be lost otherwise.
func (s *Sampler) flush(ctx context.Context) {
	for {
		byCompany := map[string][]Entry{}
		n := 0
		for n < sampleBatch {
			select {
			case one := <-s.queue:
				byCompany[one.Who.CompanyID] = append(byCompany[one.Who.CompanyID], one)
				n++
				continue
			default:
			}
			break
		}
		for _, batch := range byCompany {
			err := s.store.WriteDetached(principal.With(ctx, batch[0].Who), func(ctx context.Context, tx *store.Tx) error {
				for _, one := range batch {
					if err := one.Write(ctx, tx.Client); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				s.log.ErrorContext(ctx, "sampled decisions were not written", "error", err, "decisions", len(batch))
			}
		}
		if n < sampleBatch {
			break
		}
	}
	if dropped := s.dropped.Swap(0); dropped > 0 {
		s.log.WarnContext(ctx, "sampled decisions were dropped", "decisions", dropped)
	}
}

// Offer queues a share of the entries that it is offered.
func (s *Sampler) Offer(entry func() Entry) {
	if rand.Float64() >= s.share { // sampling needs no secure randomness
		return
	}
	select {
	case s.queue <- entry():
	default:
		s.dropped.Add(1)
	}
}

// Entry is one decision, before it is written.
type Entry struct {
	ID       string // empty for a new one
	Who      *principal.Principal
	Verb     string
	Action   string
	Resource string
	Row      string // the row's id; empty for none
	Allowed  bool
	Kind, By string         // the rule that decided
	Policies string         // the version of the company's policies
	Bundle   string         // the version of the policy modules
	Input    map[string]any // what the policies saw
	At       time.Time
}

// Short leaves out texts that are too long to store with every decision.
func Short(doc map[string]any) map[string]any {
	out := make(map[string]any, len(doc))
	for k, v := range doc {
		if s, ok := v.(string); ok && len(s) > maxText {
			continue
		}
		out[k] = v
	}
	return out
}

// Write adds the decision to the company's log.
func (d Entry) Write(ctx context.Context, db *ent.Client) error {
	input, err := json.Marshal(d.Input)
	if err != nil {
		return fmt.Errorf("write the decision: %w", err)
	}
	c := db.AccessDecision.Create().
		SetPrincipalType(string(d.Who.Type)).SetPrincipalID(d.Who.ID).SetPrincipalName(text.Cut(d.Who.Name, 200)).
		SetMethod(string(d.Who.Method)).SetVerb(d.Verb).SetAction(d.Action).SetResourceType(d.Resource).
		SetAllowed(d.Allowed).SetDecidedKind(d.Kind).SetDecidedID(text.Cut(d.By, text.MaxID)).
		SetPolicies(d.Policies).SetBundle(d.Bundle).SetRequestID(text.Cut(d.Who.RequestID, text.MaxID)).SetInput(input).SetCreatedAt(d.At)
	if d.ID != "" {
		c.SetID(d.ID)
	}
	if d.Row != "" {
		c.SetResourceID(text.Cut(d.Row, text.MaxID))
	}
	if d.Who.KeyID != "" {
		c.SetKeyID(d.Who.KeyID)
	}
	if err := c.Exec(ctx); err != nil {
		return fmt.Errorf("write the decision: %w", err)
	}
	return nil
}
