package demo

import (
	"context"
	"fmt"

	"atrium/ent"
	"atrium/ent/user"
	"atrium/internal/platform/clock"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
)

// Person is somebody of the demo company besides its owner. All of them sign in with the owner's password.
type Person struct {
	Name     string `json:"name"`
	Email    string `json:"email"`
	Role     string `json:"role"`
	Password string `json:"password,omitempty"` // for the caller of Fill, who knows it
}

// colleagues are a lead, who approves what others file, somebody else of the staff, and a member.
var colleagues = []Person{
	{Name: "Robin Lead", Email: "lead@demo.example", Role: "agent"},
	{Name: "Sam Staff", Email: "staff@demo.example", Role: "agent"},
	{Name: "Mia Member", Email: "member@demo.example", Role: "member"},
}

// people creates those of the company besides its owner, and returns the lead's id.
func (d *filling) people(owner *ent.User) (lead string) {
	sys := principal.System(d.ctx, "accounts belong to no company")
	for i, p := range colleagues {
		id := d.once(d.engine.Store.Reader().User.Query().Where(user.Email(p.Email)).OnlyID, func() (id string, err error) {
			err = d.engine.Store.Write(sys, func(ctx context.Context, tx *store.Tx) error {
				known, err := tx.Account.Get(ctx, owner.AccountID)
				if err != nil {
					return fmt.Errorf("read the owner's account: %w", err)
				}
				acc, err := tx.Account.Create().SetEmail(p.Email).SetPasswordHash(known.PasswordHash).Save(ctx)
				if err != nil {
					return fmt.Errorf("make the account of %s: %w", p.Email, err)
				}
				tx.AuthorityChanged()
				u, err := tx.User.Create().SetCompanyID(owner.CompanyID).SetAccountID(acc.ID).SetEmail(p.Email).SetName(p.Name).
					SetRole(user.Role(p.Role)).SetAcceptedAt(clock.From(ctx).Now()).Save(ctx)
				if err != nil {
					return fmt.Errorf("make the user %s: %w", p.Email, err)
				}
				id = u.ID
				return nil
			})
			return id, err
		})
		if i == 0 {
			lead = id
		}
	}
	return lead
}
