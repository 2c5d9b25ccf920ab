package people

import (
	"context"
	"fmt"
	"strings"
	"time"

	"atrium/ent"
	"atrium/ent/mailedlink"
	"atrium/ent/user"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/ratelimit"
	"atrium/internal/platform/store"
	"atrium/internal/platform/text"
)

// The operations that let people in. They require a signed-in person.
var (
	InviteUser = op.New("user.invite", op.Spec{
		Resource: "User", Action: op.Create, AdminLayer: true, LiveOnly: true,
		Summary: "Invite somebody into the company",
	}, inviteUser).WithVerbs(func(in InviteUserInput) []string { return roleVerbs("user.invite", in.Role) }).
		WithCheck(func(_ context.Context, _ *op.Tx, in InviteUserInput) error { return checkEmail(in.Email) })

	ResendInvitation = op.OnRow("user.resend_invitation", op.Spec{
		Resource: "User", Action: op.Update, AdminLayer: true, Past: map[string]string{"user.resend_invitation": "user.invited"},
		Summary: "Mail an invitation again; its earlier links are dead then",
	}, loadUserToChange, resendInvitation).WithRowVerbs(func(row any, _ op.ByID) []string { return ofRow(row) })
)

// The limit of invitation mails to one person within a period, the first one included.
const (
	maxInvitations = 5
	invitationsIn  = time.Hour
)

// InviteUserInput says who is invited.
type InviteUserInput struct {
	Email string  `json:"email" maxLength:"254" pattern:"^[^\\s@<>(),;:\"]+@[^\\s@<>(),;:\"]+$" patternDescription:"an e-mail address" doc:"Kept in lower case."`
	Name  *string `json:"name,omitempty" nullable:"true" minLength:"1" maxLength:"200" pattern:"\\S" patternDescription:"more than blanks" doc:"What stands before the @ of the address when not given."`
	Role  *string `json:"role,omitempty" nullable:"true" enum:"owner,admin,agent,member" doc:"Starts as member; only owners invite owners."`
}

// checkEmail returns validation_error for an address that mail cannot be sent to.
func checkEmail(email string) error {
	if _, ok := text.Email(email); !ok {
		return apperr.InvalidField("email", "must be an e-mail address")
	}
	return nil
}

// inviteUser creates the person's account if there is none, and mails a link that accepts the invitation. Returns conflict if
// the company has a user with the address, whatever its status.
func inviteUser(ctx context.Context, tx *op.Tx, in InviteUserInput) (*ent.User, error) {
	if err := checkEmail(in.Email); err != nil {
		return nil, err
	}
	email, _ := text.Email(in.Email)
	member, err := tx.User.Query().Where(user.Email(email)).
		Exist(tx.Unfiltered(ctx, "an address is one member's, seen or not"))
	if err != nil {
		return nil, fmt.Errorf("look for the member: %w", err)
	}
	if member {
		return nil, apperr.New(apperr.Conflict, "Somebody with this e-mail address is a member already.")
	}
	acc, err := accountOf(ctx, tx, email)
	if err != nil {
		return nil, err
	}
	local, _, _ := strings.Cut(email, "@")
	u, err := tx.User.Create().
		SetAccountID(acc.ID).
		SetEmail(email).
		SetName(op.Or(in.Name, local)).
		SetRole(user.Role(op.Or(in.Role, string(user.RoleMember)))).
		SetStatus(user.StatusInvited).
		Save(ctx)
	if err != nil {
		return nil, fmt.Errorf("create the user: %w", err)
	}
	// Record single fields, because the company's log must not show the user's account.
	tx.ChangedField("email", nil, u.Email)
	tx.ChangedField("name", nil, u.Name)
	tx.ChangedField("role", nil, u.Role)
	tx.ChangedField("status", nil, u.Status)
	tx.AuthorityChanged()
	return u, mailInvitation(ctx, tx, u)
}

// mailInvitation returns rate_limit_exceeded when the company has mailed as many invitations within a day as its plan allows.
// Withdrawing an invitation does not lower the count, because it counts mails.
func mailInvitation(ctx context.Context, tx *op.Tx, u *ent.User) error {
	if err := mayMail(ctx, tx); err != nil {
		return err
	}
	return tx.Mail(func(m op.Mailer, db *store.Tx) error { return m.Invite(ctx, db, u) })
}

// day is how long an invitation counts against the company's allowance.
const day = 24 * time.Hour

// Invitations returns the query of the links that a company has mailed and that still count against its allowance. Links belong
// to no company, so the query runs as the system.
func Invitations(db *ent.Client, companyID string, now time.Time) *ent.MailedLinkQuery {
	return db.MailedLink.Query().Where(mailedlink.InvitedBy(companyID), mailedlink.CreatedAtGT(now.Add(-day)))
}

// mayMail compares the company's invitations with its allowance. A lock makes the invitations of one company wait for each
// other.
func mayMail(ctx context.Context, tx *op.Tx) error {
	p := tx.Principal()
	if p.Type == principal.TypeOperator {
		return nil // the operator sets the allowances
	}
	if err := tx.LockName(ctx, "invitations/"+p.CompanyID); err != nil {
		return err
	}
	c, err := tx.Company.Get(ctx, p.CompanyID)
	if err != nil {
		return fmt.Errorf("read the company: %w", err)
	}
	limit, _ := ratelimit.ForCompany(string(c.Plan), false, ratelimit.Own{Invitations: c.InvitationsPerDay})
	most, now := max(1, limit.Invitations), tx.Now(ctx)
	var oldest []*ent.MailedLink
	err = tx.AsSystem(ctx, "invite: links in mails belong to no company", func(ctx context.Context) (err error) {
		oldest, err = Invitations(tx.Client, p.CompanyID, now).
			Order(ent.Desc(mailedlink.FieldCreatedAt)).Offset(most - 1).Limit(1).All(ctx)
		return err
	})
	if err != nil {
		return fmt.Errorf("count the company's invitations: %w", err)
	}
	if len(oldest) == 0 {
		return nil
	}
	out := apperr.New(apperr.RateLimited, "The company has mailed %d invitations within a day, as many as its plan allows. Try again later.", most)
	out.RetryAfter = max(1, int(oldest[0].CreatedAt.Add(day).Sub(now)/time.Second))
	return out
}

// resendInvitation returns conflict for a user who has accepted already or was deactivated, and rate_limit_exceeded for one who
// was mailed too often.
func resendInvitation(ctx context.Context, tx *op.Tx, u *ent.User, _ op.ByID) (*ent.User, error) {
	if u.Status != user.StatusInvited {
		return nil, apperr.New(apperr.Conflict, "The user is not waiting for an invitation.")
	}
	mailed := 0
	err := tx.AsSystem(ctx, "invite: links in mails belong to no company", func(ctx context.Context) (err error) {
		mailed, err = tx.MailedLink.Query().Where(mailedlink.KindEQ(mailedlink.KindInvitation), mailedlink.UserID(u.ID),
			mailedlink.CreatedAtGT(tx.Now(ctx).Add(-invitationsIn))).Count(ctx)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("count the invitations: %w", err)
	}
	if mailed >= maxInvitations {
		out := apperr.New(apperr.RateLimited, "The person was invited several times within the hour. Try again later.")
		out.RetryAfter = int(invitationsIn / time.Second)
		return nil, out
	}
	return u, mailInvitation(ctx, tx, u)
}
