package billing_test

import (
	"context"
	"errors"
	"sync"

	"atrium/ent/payment"
	"atrium/internal/billing"
)

// How the bank treats a charge that it has not seen before.
const (
	takes     = "takes"
	refuses   = "refuses"
	isDown    = "is down"    // the charge does not reach the bank
	dropsLine = "drops line" // the bank takes the money, and the answer is lost, as when the process is killed at that moment
	ponders   = "ponders"    // the bank answers that the charge is still pending
)

// bank is a provider whose behaviour a test sets. Like a real provider, it takes the same payment only once.
type bank struct {
	mu     sync.Mutex
	does   string
	asked  int
	known  map[string]billing.Outcome
	charge map[string]billing.Charge // the charges that it took, by payment
}

func newBank() *bank {
	return &bank{does: takes, known: map[string]billing.Outcome{}, charge: map[string]billing.Charge{}}
}

func (b *bank) Charge(_ context.Context, c billing.Charge) (billing.Outcome, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.asked++
	if out, ok := b.known[c.Payment]; ok {
		return out, nil
	}
	out := billing.Outcome{Status: payment.StatusSucceeded, Reference: "ref_" + c.Payment}
	switch b.does {
	case isDown:
		return billing.Outcome{}, errors.New("connection refused")
	case refuses:
		out.Status, out.Failure = payment.StatusFailed, "card_declined"
	case ponders:
		out.Status = payment.StatusPending
	default:
		b.charge[c.Payment] = c
	}
	b.known[c.Payment] = out
	if b.does == dropsLine {
		return billing.Outcome{}, errors.New("connection reset")
	}
	return out, nil
}

func (b *bank) Find(_ context.Context, c billing.Charge) (billing.Outcome, bool, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.does == isDown {
		return billing.Outcome{}, false, errors.New("connection refused")
	}
	out, ok := b.known[c.Payment]
	return out, ok, nil
}

// decide sets the outcome of a pending charge.
func (b *bank) decide(c string, out billing.Outcome) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.known[c] = out
}
