package demo

import (
	"context"
	"fmt"

	"atrium/ent"
	"atrium/ent/user"
	"atrium/internal/op"
	"atrium/internal/people"
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

const (
	lead   = "lead@demo.example"
	staff  = "staff@demo.example"
	member = "member@demo.example"
)

// colleagues are a lead, who approves what others file, somebody else of the staff, and a member.
var colleagues = []Person{
	{Name: "Robin Lead", Email: lead, Role: "agent"},
	{Name: "Sam Staff", Email: staff, Role: "agent"},
	{Name: "Mia Member", Email: member, Role: "member"},
}

// members are the colleagues in the teams of the packs. The owner is in all of them: somebody else can then decide on what the lead files.
var members = []struct {
	team   string
	emails []string
}{
	{"Team/it-support", []string{lead, staff}},
	{"Team/management", []string{lead}},
	{"Team/budget-owners", []string{lead}},
	{"Team/finance", []string{staff}},
}

// people creates those of the company besides its owner, and returns the member.
func (d *filling) people(owner *ent.User) *ent.User {
	sys := principal.System(d.ctx, "accounts belong to no company")
	for _, p := range colleagues {
		d.once(d.engine.Store.Reader().User.Query().Where(user.Email(p.Email)).OnlyID, func() (id string, err error) {
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
	}
	if d.err != nil {
		return nil
	}
	var u *ent.User
	u, d.err = d.engine.Store.Reader().User.Query().Where(user.Email(member)).Only(d.ctx)
	return u
}

// join makes the owner and the colleagues members of their teams.
func (d *filling) join(owner *ent.User) {
	for _, m := range members {
		if d.err != nil {
			return
		}
		var ids []string
		if ids, d.err = d.engine.Store.Reader().User.Query().Where(user.EmailIn(m.emails...)).IDs(d.ctx); d.err != nil {
			return
		}
		in := people.UpdateTeamInput{ByID: op.ByID{ID: d.ids[m.team]}, MemberIDs: op.SetTo(append(ids, owner.ID))}
		_, _, d.err = op.Run(d.ctx, d.engine, people.UpdateTeam, in, nil)
	}
}
