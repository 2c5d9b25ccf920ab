package billing

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"atrium/ent/journalline"
)

// amounts are what one booking moves, by account: debits are positive, credits negative, and they add up to zero.
type amounts map[journalline.Account]int64

// book writes what a source (an invoice, a payment, a credit) moves.
func (a *account) book(ctx context.Context, source string, moved amounts) error {
	var sum int64
	for _, account := range slices.Sorted(maps.Keys(moved)) {
		cents := moved[account]
		if cents == 0 {
			continue
		}
		sum += cents
		if err := a.db.JournalLine.Create().SetSource(source).SetAccount(account).SetAmount(cents).Exec(ctx); err != nil {
			return fmt.Errorf("write the journal: %w", err)
		}
	}
	if sum != 0 {
		return fmt.Errorf("billing: the booking of %s does not add up: %d", source, sum)
	}
	return nil
}
