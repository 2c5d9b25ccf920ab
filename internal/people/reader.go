package people

import (
	"cmp"
	"context"
	"fmt"

	"atrium/ent"
	"atrium/ent/company"
	"atrium/ent/user"
	"atrium/internal/op"
	"atrium/internal/platform/locale"
)

// maxPlaces limits the memberships of an account in which a language is looked for.
const maxPlaces = 20

// ReaderOfAccount returns the printer for an account, which has no language of its own: what its person has chosen in their oldest
// membership, else what the company of the oldest has set, else the given language, else English. Zones likewise. Runs as
// the system.
func ReaderOfAccount(ctx context.Context, db *ent.Client, accountID, otherwise string) (locale.Printer, error) {
	p := locale.Printer{Language: otherwise}
	users, err := db.User.Query().Where(user.AccountID(accountID), user.LiveUserIDIsNil(), user.StatusIn(user.StatusActive, user.StatusInvited)).
		Order(user.ByCreatedAt(), user.ByID()).Limit(maxPlaces).All(ctx)
	if err != nil {
		return p, fmt.Errorf("read the account's users: %w", err)
	}
	ids := make([]string, len(users))
	for i, u := range users {
		ids[i] = u.CompanyID
	}
	companies, err := db.Company.Query().Where(company.IDIn(ids...)).All(ctx)
	if err != nil {
		return p, fmt.Errorf("read the account's companies: %w", err)
	}
	of := map[string]*ent.Company{}
	for _, c := range companies {
		of[c.ID] = c
	}
	var lang, zone *string
	for _, u := range users {
		lang, zone = cmp.Or(lang, u.Locale), cmp.Or(zone, u.TimeZone)
	}
	for _, u := range users {
		lang, zone = cmp.Or(lang, of[u.CompanyID].Locale), cmp.Or(zone, of[u.CompanyID].TimeZone)
	}
	p.Language, p.Zone = op.Or(lang, p.Language), op.Or(zone, "UTC")
	return p, nil
}
