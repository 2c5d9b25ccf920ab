package billing_test

import (
	"context"
	"errors"
	"sync"

	"atrium/ent/payment"
	"atrium/internal/billing"
)

// What a bank does with a charge that it has not heard of.
const (
	takes     = "takes"
	refuses   = "refuses"
	isDown    = "is down"    // it never hears of the charge
	dropsLine = "drops line" // it takes the money, and nobody hears of it: as when the process is killed there
	ponders   = "ponders"    // it answers that it takes longer
)

// bank is a provider that a test decides for. It takes no payment twice, as no provider does.
type bank struct {
	mu     sync.Mutex
	does   string
	asked  int
	known  map[string]billing.Outcome
	charge map[string]billing.Charge // that it took, by payment
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

// decide ends what it pondered over.
func (b *bank) decide(c string, out billing.Outcome) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.known[c] = out
}
