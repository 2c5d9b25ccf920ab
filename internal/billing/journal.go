package billing

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"atrium/ent/journalline"
)

// amounts holds the amounts of one booking by account: debits are positive, credits negative, and their sum is zero.
type amounts map[journalline.Account]int64

// book writes the journal lines of a source (an invoice, a payment, a credit). Returns an error if the amounts do not add up.
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
