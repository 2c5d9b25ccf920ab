package people

import (
	"context"
	"errors"
	"fmt"

	"entgo.io/ent/dialect/sql"

	"atrium/ent"
	"atrium/ent/account"
	"atrium/ent/apikey"
	"atrium/ent/authrequest"
	"atrium/ent/consent"
	"atrium/ent/externalidentity"
	"atrium/ent/factor"
	"atrium/ent/inboundmail"
	"atrium/ent/mailedlink"
	"atrium/ent/notification"
	"atrium/ent/predicate"
	"atrium/ent/recoverycode"
	"atrium/ent/reportsubscription"
	"atrium/ent/savedreply"
	"atrium/ent/savedview"
	"atrium/ent/session"
	"atrium/ent/signin"
	"atrium/ent/teammember"
	"atrium/ent/throttle"
	"atrium/ent/user"
	"atrium/ent/watcher"
	"atrium/internal/identity/access"
	"atrium/internal/notify/notice"
	"atrium/internal/op"
	"atrium/internal/people/erasure"
	"atrium/internal/platform/ratelimit"
	"atrium/internal/workflow/execution"
)

// ErasePerson erases a person in the company for good. It requires a signed-in person, and an owner if the person to erase is
// one.
var ErasePerson = op.OnRow("user.erase", op.Spec{
	Resource: "User", Action: op.Update, AdminLayer: true, LiveOnly: true,
	Summary: "Erase a person for good: their name, address and texts go, the rows stay, and the audit log's proofs hold",
}, loadUserToChange, erasePerson).WithRowVerbs(func(row any, _ ErasePersonInput) []string { return ofOwner(row) })

// ErasePersonInput names the person, and the reason.
type ErasePersonInput struct {
	UserID string `json:"userId" maxLength:"64" doc:"Who is erased. Nothing brings them back."`
	Reason string `json:"reason" minLength:"1" maxLength:"1000" pattern:"\\S" patternDescription:"more than blanks" doc:"Kept in the audit entry: name nobody in it."`
}

// TargetID returns the person's id.
func (in ErasePersonInput) TargetID() string { return in.UserID }

// erasePerson removes name and address from the user and its mirror in the sandbox, ends their access and their keys, and
// inserts the jobs with which package erasure removes what they wrote. It deletes the account with its last membership.
// Repeating it does nothing. Returns conflict for the last owner.
func erasePerson(ctx context.Context, tx *op.Tx, before *ent.User, in ErasePersonInput) (*ent.User, error) {
	if before.Status == user.StatusErased {
		return before, nil
	}
	if err := mayLeaveOwners(ctx, tx, before); err != nil {
		return nil, err
	}
	if err := execution.ApproversLeft(ctx, tx, before.ID); err != nil {
		return nil, err
	}
	if err := tx.Agents().OwnerLeft(ctx, tx, before.ID); err != nil {
		return nil, err
	}
	ended, err := access.End(ctx, tx, access.User(before.ID), access.Erased)
	if err != nil {
		return nil, err
	}
	var erasures []erasure.Args
	err = tx.AsSystem(ctx, "a person's rows stand in the sandbox and with the account, too", func(ctx context.Context) error {
		if erasures, err = forgetUser(ctx, tx, before.ID); err != nil {
			return err
		}
		return forgetAccount(ctx, tx, before.AccountID)
	})
	if err != nil {
		return nil, err
	}
	for _, one := range erasures {
		if err := tx.Insert(ctx, one, tx.Now(ctx).Add(erasure.Settles)); err != nil {
			return nil, err
		}
	}
	after, err := loadUser(tx.Unfiltered(ctx, "who was just erased is returned to the caller who did it"), tx, before.ID)
	if err != nil {
		return nil, fmt.Errorf("read the user: %w", err)
	}
	tx.ChangedField("status", before.Status, after.Status)
	tx.ChangedField("reason", nil, in.Reason)
	tx.ChangedField("sessions", ended.Sessions, 0)
	tx.ChangedField("grants", ended.Grants, 0)
	tx.AuthorityChanged()
	return after, nil
}

// forgetUser removes personal data from the rows of a live user and its mirrors, in a context that can access all of them.
// Returns the jobs for the rest.
func forgetUser(ctx context.Context, tx *op.Tx, id string) (jobs []erasure.Args, err error) {
	nobodys, err := tx.Account.Create().Save(ctx) // every user needs an account
	if err != nil {
		return nil, fmt.Errorf("make an account of nobody: %w", err)
	}
	rows, err := tx.User.Query().Where(user.Or(user.ID(id), user.LiveUserID(id))).Order(user.ByID()).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("look for the person's mirrors: %w", err)
	}
	var ids []string
	for _, u := range rows {
		ids = append(ids, u.ID)
		var named []predicate.Notification
		for _, begins := range notice.MentionedBy(notice.Author(u.Name)) {
			named = append(named, notification.SubjectHasPrefix(begins))
		}
		if err := deleted(tx.Notification.Delete().Where(notification.CompanyID(u.CompanyID), notification.KindEQ(notification.KindMention), notification.Or(named...)).Exec(ctx)); err != nil {
			return nil, fmt.Errorf("erase who mentioned others: %w", err)
		}
		err := tx.Notification.Update().Where(notification.CompanyID(u.CompanyID), notification.HeldNotNil()).ClearHeld().Exec(ctx) // they tell who did what
		if err != nil {
			return nil, fmt.Errorf("erase mails that wait: %w", err)
		}
		sent := inboundmail.Or(inboundmail.SenderEqualFold(u.Email), inboundmail.MailFromEqualFold(u.Email))
		if err := deleted(tx.InboundMail.Delete().Where(inboundmail.CompanyID(u.CompanyID), sent).Exec(ctx)); err != nil {
			return nil, fmt.Errorf("erase mails of the person: %w", err)
		}
		jobs = append(jobs, erasure.Args{Company: u.CompanyID, User: u.ID})
		err = tx.User.Update().Where(user.ID(u.ID)).SetStatus(user.StatusErased).SetName(erasure.Mark).SetEmail(u.ID + "@erased.invalid").
			SetAccountID(nobodys.ID).ClearAttributes().ClearNotifications().ClearLocale().ClearTimeZone().SetMfaEnabled(false).ClearLastSeenAt().Exec(ctx)
		if err != nil {
			return nil, fmt.Errorf("erase the user: %w", err)
		}
	}
	return jobs, errors.Join(
		tx.APIKey.Update().Where(apikey.UserIDIn(ids...), apikey.RevokedAtIsNil()).SetRevokedAt(tx.Now(ctx)).Exec(ctx),
		tx.APIKey.Update().Where(apikey.UserIDIn(ids...)).SetName(erasure.Mark).ClearAllowedIps().Exec(ctx),
		tx.Session.Update().Where(session.UserIDIn(ids...)).SetIP("").SetUserAgent("").Exec(ctx),
		deleted(tx.TeamMember.Delete().Where(teammember.UserIDIn(ids...)).Exec(ctx)),
		deleted(tx.Watcher.Delete().Where(watcher.UserIDIn(ids...)).Exec(ctx)),
		deleted(tx.Consent.Delete().Where(consent.UserIDIn(ids...)).Exec(ctx)),
		deleted(tx.ExternalIdentity.Delete().Where(externalidentity.UserIDIn(ids...)).Exec(ctx)),
		deleted(tx.ReportSubscription.Delete().Where(reportsubscription.UserIDIn(ids...)).Exec(ctx)),
		deleted(tx.SavedReply.Delete().Where(savedreply.UserIDIn(ids...), savedreply.ScopeEQ(savedreply.ScopeMe)).Exec(ctx)),
		deleted(tx.SavedView.Delete().Where(savedview.UserIDIn(ids...), savedview.ScopeEQ(savedview.ScopeMe)).Exec(ctx)),
		deleted(tx.MailedLink.Delete().Where(mailedlink.UserIDIn(ids...)).Exec(ctx)),
		deleted(tx.AuthRequest.Delete().Where(authrequest.UserIDIn(ids...)).Exec(ctx)),
	)
}

// forgetAccount deletes an account without users, with everything that its person signs in with.
func forgetAccount(ctx context.Context, tx *op.Tx, id string) error {
	if used, err := tx.User.Query().Where(user.AccountID(id)).Exist(ctx); err != nil || used {
		return err
	}
	acc, err := tx.Account.Get(ctx, id)
	if err != nil {
		return fmt.Errorf("read the account: %w", err)
	}
	signIns, err := tx.SignIn.Query().Where(signin.AccountID(id)).IDs(ctx)
	if err != nil {
		return fmt.Errorf("look for the account's sign-ins: %w", err)
	}
	return errors.Join(
		deleted(tx.AuthRequest.Delete().Where(authrequest.Or(authrequest.SignInIDIn(signIns...), authrequest.And(authrequest.LoginHint(acc.Email), authrequest.LoginHintNEQ("")))).Exec(ctx)),
		deleted(tx.SignIn.Delete().Where(signin.AccountID(id)).Exec(ctx)),
		deleted(tx.MailedLink.Delete().Where(mailedlink.AccountID(id)).Exec(ctx)),
		deleted(tx.Factor.Delete().Where(factor.AccountID(id)).Exec(ctx)),
		deleted(tx.RecoveryCode.Delete().Where(recoverycode.AccountID(id)).Exec(ctx)),
		deleted(tx.Throttle.Delete().Where(func(s *sql.Selector) { s.Where(sql.HasSuffix(s.C(throttle.FieldID), "/"+ratelimit.Hidden(acc.Email))) }).Exec(ctx)),
		deleted(tx.Account.Delete().Where(account.ID(id)).Exec(ctx)),
	)
}

// deleted returns the error of a deletion and ignores the number of rows.
func deleted(_ int, err error) error { return err }
