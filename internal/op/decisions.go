package op

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"atrium/authz"
	"atrium/ent"
	"atrium/internal/principal"
	"atrium/internal/store"
	"atrium/internal/text"
)

// The decision log: every refusal, written with its audit entry, and a sample of what was allowed, written by and by.
// Refusals can be looked up by the decisionId of their answer; drafts of policies can be tried on all of it.

// The bounds of the decision log.
const (
	DecisionAge   = 30 * 24 * time.Hour // how long a decision is kept
	DecisionCount = 10_000              // how many a company keeps
	maxKeptText   = 4096                // bytes of one attribute; a longer one is left out
	sampleQueue   = 1000
	sampleBatch   = 100
	sampleEvery   = time.Second
)

// Decisions writes sampled decisions in batches, off the callers' way. When more come than it can write, the newest are
// dropped.
type Decisions struct {
	store   *store.Store
	log     *slog.Logger
	share   float64
	queue   chan decision
	dropped atomic.Int64
}

// NewDecisions samples a share (0 to 1) of what is allowed. Nothing is written unless Run is running.
func NewDecisions(s *store.Store, log *slog.Logger, share float64) *Decisions {
	return &Decisions{store: s, log: log, share: share, queue: make(chan decision, sampleQueue)}
}

// Run writes what was sampled until ctx ends, and then the rest.
func (d *Decisions) Run(ctx context.Context) error {
	tick := time.NewTicker(sampleEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			d.flush(ctx)
		case <-ctx.Done():
			d.flush(context.WithoutCancel(ctx))
			return nil
		}
	}
}

// flush writes what is in the queue, one company's decisions in one transaction.
func (d *Decisions) flush(ctx context.Context) {
	for {
		byCompany := map[string][]decision{}
		n := 0
		for n < sampleBatch {
			select {
			case one := <-d.queue:
				byCompany[one.who.CompanyID] = append(byCompany[one.who.CompanyID], one)
				n++
				continue
			default:
			}
			break
		}
		for _, batch := range byCompany {
			err := d.store.Write(principal.With(ctx, batch[0].who), func(ctx context.Context, tx *store.Tx) error {
				for _, one := range batch {
					if err := one.write(ctx, tx.Client); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				d.log.ErrorContext(ctx, "sampled decisions were not written", "error", err, "decisions", len(batch))
			}
		}
		if n < sampleBatch {
			break
		}
	}
	if dropped := d.dropped.Swap(0); dropped > 0 {
		d.log.WarnContext(ctx, "sampled decisions were dropped", "decisions", dropped)
	}
}

// sample keeps a share of what was allowed. Lists are not sampled: they are no decision about a row.
func (a *attempt) sample(ctx context.Context) {
	d := a.engine.Decisions
	if d == nil || a.set == nil || rand.Float64() >= d.share { // a sample, no secret
		return
	}
	if a.asked == "" && a.target == "" {
		return
	}
	select {
	case d.queue <- a.record(ctx, "", true):
	default:
		d.dropped.Add(1)
	}
}

// decision is one row of the log, before it is written.
type decision struct {
	id       string // empty for a new one
	who      *principal.Principal
	verb     string
	action   string
	resource string
	row      string
	allowed  bool
	by       authz.By
	policies string
	bundle   string
	input    map[string]any
	at       time.Time
}

// record tells what was decided, and what the policies looked at.
func (a *attempt) record(ctx context.Context, id string, allowed bool) decision {
	d := decision{
		id: id, who: a.principal, verb: a.verbs[0], action: string(a.info.Action), resource: a.info.Resource, row: a.subjectID(),
		allowed: allowed, by: a.decision.By, bundle: a.engine.Authz.Bundle(),
	}
	if a.set != nil {
		d.policies = a.set.Version()
	}
	if a.asked != "" {
		d.action, d.resource, d.row = string(a.asked), a.row.Resource, a.row.ID
		if allowed {
			d.by = a.allowedBy
		}
	}
	caller := a.caller
	if caller == nil {
		caller = &authz.Caller{Principal: a.principal, Time: a.engine.Store.Clock().Now()}
	}
	d.at = caller.Time
	d.input = caller.Document()
	if doc := a.row.Document(); doc != nil {
		d.input["resource"] = short(doc)
	}
	return d
}

// short leaves out texts that are too long to be kept with every decision.
func short(doc map[string]any) map[string]any {
	out := make(map[string]any, len(doc))
	for k, v := range doc {
		if s, ok := v.(string); ok && len(s) > maxKeptText {
			continue
		}
		out[k] = v
	}
	return out
}

// write adds the decision to the company's log.
func (d decision) write(ctx context.Context, db *ent.Client) error {
	input, err := json.Marshal(d.input)
	if err != nil {
		return fmt.Errorf("write the decision: %w", err)
	}
	c := db.AccessDecision.Create().
		SetPrincipalType(string(d.who.Type)).SetPrincipalID(d.who.ID).SetPrincipalName(text.Cut(d.who.Name, 200)).
		SetMethod(string(d.who.Method)).SetVerb(d.verb).SetAction(d.action).SetResourceType(d.resource).
		SetAllowed(d.allowed).SetDecidedKind(d.by.Kind).SetDecidedID(text.Cut(d.by.ID, 64)).
		SetPolicies(d.policies).SetBundle(d.bundle).SetRequestID(text.Cut(d.who.RequestID, 64)).SetInput(input).SetCreatedAt(d.at)
	if d.id != "" {
		c.SetID(d.id)
	}
	if d.row != "" {
		c.SetResourceID(text.Cut(d.row, 64))
	}
	if d.who.KeyID != "" {
		c.SetKeyID(d.who.KeyID)
	}
	if err := c.Exec(ctx); err != nil {
		return fmt.Errorf("write the decision: %w", err)
	}
	return nil
}
