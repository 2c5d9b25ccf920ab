package account

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"
	"time"

	"atrium/ent"
	"atrium/ent/mailedlink"
	"atrium/ent/user"
	"atrium/internal/identity/signin"
	"atrium/internal/notify/mail"
	"atrium/internal/op"
	"atrium/internal/people"
	"atrium/internal/platform/clock"
	"atrium/internal/platform/locale"
	"atrium/internal/platform/store"
)

// PasswordChanged is a kind for Notify, besides the kinds of package signin.
const PasswordChanged = "password_changed"

// notices are the texts about changes of an account.
var notices = map[string]struct{ subject, text locale.Text }{
	PasswordChanged: {locale.Say("Your password was changed"), locale.Say("The password of your account was changed.")},
	signin.FactorAdded: {
		locale.Say("A second factor was added to your account"), locale.Say("A second factor for signing in was added to your account."),
	},
	signin.FactorRemoved: {
		locale.Say("A second factor was removed from your account"), locale.Say("A second factor for signing in was removed from your account."),
	},
	signin.CodesRenewed: {
		locale.Say("You have new recovery codes"), locale.Say("New recovery codes were created for your account. The earlier ones no longer work."),
	},
	signin.CodeUsed: {
		locale.Say("A recovery code was used"), locale.Say("Somebody has signed in to your account with a recovery code, which is used up."),
	},
	signin.FactorsReset: {
		locale.Say("Your second factors were removed"),
		locale.Say("An administrator has removed the second factors for signing in from your account."),
	},
}

// MailsOptions are the dependencies of Mails.
type MailsOptions struct {
	Store  *store.Store
	Outbox *mail.Outbox
	Sealer op.Sealer
	// AuthURL returns the origin of the hosted pages, to which the links lead. It is called when a mail is written,
	// because a server knows its address only once it listens.
	AuthURL func() string
	// Console returns the address of the web console, to whose pages mails about requests lead; empty where there is none.
	Console func() string
	// AnswerTo returns the address at which a user answers mails about a row; empty for none. note makes the answers notes for staff.
	// Nil: mails are not answered.
	AnswerTo func(ctx context.Context, db *ent.Client, u *ent.User, about string, note bool) (string, error)
	// Began returns the Message-ID of the user's own mail that a row began with; empty for none. Nil: no row began so.
	Began func(ctx context.Context, db *ent.Client, u *ent.User, about string) (string, error)
}

// Mails sends the mails about accounts. Each is queued in the caller's transaction. Safe for concurrent use.
type Mails struct {
	store   *store.Store
	outbox  *mail.Outbox
	sealer  op.Sealer
	authURL func() string
	console func() string
	answers func(ctx context.Context, db *ent.Client, u *ent.User, about string, note bool) (string, error)
	began   func(ctx context.Context, db *ent.Client, u *ent.User, about string) (string, error)
}

// NewMails returns the mails of an installation.
func NewMails(o MailsOptions) *Mails {
	return &Mails{store: o.Store, outbox: o.Outbox, sealer: o.Sealer, authURL: o.AuthURL, console: o.Console, answers: o.AnswerTo, began: o.Began}
}

var _ op.Mailer = (*Mails)(nil)

// Invite mails the invited user a link that is valid for 7 days. It invalidates links that were mailed before.
func (l *Mails) Invite(ctx context.Context, tx *store.Tx, u *ent.User) error {
	err := tx.AsSystem(ctx, "links in mails belong to no company", func(ctx context.Context) error { return l.invite(ctx, tx, u, &u.CompanyID) })
	if err != nil {
		return fmt.Errorf("mail the invitation: %w", err)
	}
	return nil
}

// invite mails an invitation; by is the company that requested it, against whose allowance it counts.
func (l *Mails) invite(ctx context.Context, tx *store.Tx, u *ent.User, by *string) error {
	c, err := tx.Company.Get(ctx, u.CompanyID)
	if err != nil {
		return fmt.Errorf("read the company: %w", err)
	}
	err = tx.MailedLink.Update().Where(mailedlink.UserID(u.ID), mailedlink.KindEQ(mailedlink.KindInvitation), mailedlink.UsedAtIsNil()).
		SetUsedAt(clock.From(ctx).Now()).Exec(ctx)
	if err != nil {
		return fmt.Errorf("end earlier invitations: %w", err)
	}
	token, err := newLink(ctx, tx, mailedlink.KindInvitation, func(m *ent.MailedLinkCreate) { m.SetAccountID(u.AccountID).SetUserID(u.ID).SetNillableInvitedBy(by) })
	if err != nil {
		return err
	}
	company := mail.Line(c.Name, 60)
	return l.send(ctx, tx, letter{u.Email, u.ID, op.ReaderOf(u, c)}, locale.Say("You are invited to %s", company),
		locale.Say("Hello %s,", mail.Line(u.Name, 60)), locale.Say("%s invites you to work with it. Open this link to accept:", company),
		l.to(pathInvitation, token), locale.Say("The link works once, within 7 days. If you do not know who invites you, ignore this mail."))
}

// Notify mails a person about a change of the person's account: PasswordChanged, or a kind of package signin.
func (l *Mails) Notify(ctx context.Context, tx *store.Tx, accountID, kind string) error {
	n, ok := notices[kind]
	if !ok {
		return fmt.Errorf("account: there is no notice of the kind %q", kind)
	}
	err := tx.AsSystem(ctx, "accounts belong to no company", func(ctx context.Context) error {
		acc, err := tx.Account.Get(ctx, accountID)
		if err != nil {
			return fmt.Errorf("read the account: %w", err)
		}
		return l.notice(ctx, tx, acc, n.subject, n.text)
	})
	if err != nil {
		return fmt.Errorf("mail a notice: %w", err)
	}
	return nil
}

// notice mails an account what happened, when, and what to do about it.
func (l *Mails) notice(ctx context.Context, tx *store.Tx, acc *ent.Account, subject, text locale.Text) error {
	p, err := people.ReaderOfAccount(ctx, tx.Client, acc.ID, "")
	if err != nil {
		return err
	}
	return l.send(ctx, tx, letter{acc.Email, acc.ID, p}, subject, text,
		locale.Say("This was on %s. If it was you, there is nothing you need to do.", clock.From(ctx).Now()),
		locale.Say("If it was not you, set a new password at once and tell your administrator:"), locale.Raw(l.page(pathForgot)))
}

// reset mails a link for setting a new password. asked is the language of the page on which somebody asked for it.
func (l *Mails) reset(ctx context.Context, tx *store.Tx, acc *ent.Account, asked string) error {
	p, err := people.ReaderOfAccount(ctx, tx.Client, acc.ID, asked)
	if err != nil {
		return err
	}
	token, err := newLink(ctx, tx, mailedlink.KindPasswordReset, func(m *ent.MailedLinkCreate) { m.SetAccountID(acc.ID) })
	if err != nil {
		return err
	}
	return l.send(ctx, tx, letter{acc.Email, acc.ID, p}, locale.Say("Set a new password"),
		locale.Say("Somebody, probably you, has asked to set a new password for your account. Open this link to do so:"), l.to(pathReset, token),
		locale.Say("The link works once, within 30 minutes. If you did not ask for it, ignore this mail: your password stays as it is."))
}

// confirmEmail mails a link to the account's future address, and notifies the current one.
func (l *Mails) confirmEmail(ctx context.Context, tx *store.Tx, acc *ent.Account, email, token string) error {
	p, err := people.ReaderOfAccount(ctx, tx.Client, acc.ID, "")
	if err != nil {
		return err
	}
	err = l.send(ctx, tx, letter{email, acc.ID, p}, locale.Say("Confirm your e-mail address"),
		locale.Say("This address is to become the one that an account signs in with. Open this link in the browser in which you asked for it:"),
		l.to(pathConfirmEmail, token), locale.Say("The link works once, within an hour. If you did not ask for it, ignore this mail."))
	if err != nil {
		return err
	}
	return l.notice(ctx, tx, acc, locale.Say("Your e-mail address is to be changed"),
		locale.Say("Somebody who is signed in to your account wants it to use another e-mail address: %s", email))
}

// emailChanged notifies the account's former address.
func (l *Mails) emailChanged(ctx context.Context, tx *store.Tx, accountID, old, email string) error {
	p, err := people.ReaderOfAccount(ctx, tx.Client, accountID, "")
	if err != nil {
		return err
	}
	return l.send(ctx, tx, letter{old, accountID, p}, locale.Say("Your e-mail address was changed"),
		locale.Say("Your account does not use this e-mail address any more, but another one: %s", email),
		locale.Say("If you changed it yourself, there is nothing you need to do."),
		locale.Say("If it was not you, tell the administrator of your company at once."))
}

// openCompany mails a link for opening a company, in the language of the page on which somebody asked for it.
func (l *Mails) openCompany(ctx context.Context, tx *store.Tx, email, token, asked string) error {
	return l.send(ctx, tx, letter{email, "", locale.Printer{Language: asked}}, locale.Say("Confirm your e-mail address"),
		locale.Say("Somebody, probably you, wants to create a company with this e-mail address. Open this link to continue:"),
		l.to(pathConfirm, token), locale.Say("The link works once, within a day. If you did not ask for it, ignore this mail."))
}

// page returns the address of a page.
func (l *Mails) page(path string) string { return strings.TrimRight(l.authURL(), "/") + path }

// to returns the address of a page with a link's token.
func (l *Mails) to(path, token string) locale.Text {
	return locale.Raw(l.page(path) + "?token=" + token)
}

// sealed returns the address of a page with a token that says for whom it is, of a company, and what about. The token is the permission:
// what is sealed for one purpose passes for no other.
func (l *Mails) sealed(path, purpose string, u *ent.User, about string) (string, error) {
	token, err := l.sealer.Seal([]byte(u.CompanyID+" "+u.ID+" "+about), []byte(purpose))
	if err != nil {
		return "", fmt.Errorf("seal the link: %w", err)
	}
	return l.page(path) + "?token=" + base64.RawURLEncoding.EncodeToString(token), nil
}

// unseal reads a token that sealed made for the purpose; false if it is none.
func (l *Mails) unseal(token, purpose string) (company, user, about string, ok bool) {
	sealed, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil {
		return "", "", "", false
	}
	plain, err := l.sealer.Unseal(sealed, []byte(purpose))
	if err != nil {
		return "", "", "", false
	}
	parts := strings.Split(string(plain), " ")
	if len(parts) != 3 {
		return "", "", "", false
	}
	return parts[0], parts[1], parts[2], true
}

// Tell mails a user what happened, with a link to the page that shows it and one that switches mails of the kind off.
func (l *Mails) Tell(ctx context.Context, tx *store.Tx, u *ent.User, t op.Told) error {
	unsubscribe, err := l.sealed(pathUnsubscribe, unsubscribing, u, t.Kind)
	if err != nil {
		return err
	}
	letter := mail.Letter{
		Language: t.Language, Title: t.Subject, Events: t.Events, Unsubscribe: unsubscribe,
	}
	if console := l.console(); console != "" && t.Page != "" {
		letter.Link, letter.Decide = console+t.Page, t.Decide
	}
	if t.Rate != "" {
		if letter.Rate, err = l.sealed(pathRate, ratingOf, u, t.Rate); err != nil {
			return err
		}
	}
	m := mail.Message{To: u.Email, Of: u.ID, Subject: t.Subject, Thread: t.Thread, Note: t.Note, Unsubscribe: letter.Unsubscribe}
	if err := l.threaded(ctx, tx, u, &m); err != nil {
		return err
	}
	letter.Answers = m.ReplyTo != ""
	letter.Note = letter.Answers && t.Note && u.Role != user.RoleMember
	m.Text = letter.Text()
	if m.HTML, err = letter.HTML(); err != nil {
		return err
	}
	return l.outbox.Enqueue(ctx, tx, m)
}

// threaded sets to which address a mail is answered, and which mail of its reader's it answers itself.
func (l *Mails) threaded(ctx context.Context, tx *store.Tx, u *ent.User, m *mail.Message) (err error) {
	if l.answers != nil && m.Thread != "" {
		if m.ReplyTo, err = l.answers(ctx, tx.Client, u, m.Thread, m.Note); err != nil {
			return fmt.Errorf("make the address for answers: %w", err)
		}
	}
	if l.began != nil && m.Thread != "" {
		if m.Began, err = l.began(ctx, tx.Client, u, m.Thread); err != nil {
			return fmt.Errorf("look for what began the thread: %w", err)
		}
	}
	return nil
}

// Write mails these paragraphs to a user, who cannot switch such mails off.
func (l *Mails) Write(ctx context.Context, tx *store.Tx, u *ent.User, subject locale.Text, paragraphs ...locale.Text) error {
	c, err := tx.Company.Get(ctx, u.CompanyID)
	if err != nil {
		return fmt.Errorf("read the company: %w", err)
	}
	return l.send(ctx, tx, letter{u.Email, u.ID, op.ReaderOf(u, c)}, subject, paragraphs...)
}

// letter says to whom a mail goes.
type letter struct {
	to string // the address
	of string // id of its user or account; empty if it has neither
	in locale.Printer
}

// send queues a mail of these paragraphs.
func (l *Mails) send(ctx context.Context, tx *store.Tx, to letter, subject locale.Text, paragraphs ...locale.Text) error {
	texts := make([]string, len(paragraphs))
	for i, t := range paragraphs {
		texts[i] = to.in.T(t)
	}
	text := strings.Join(texts, "\n\n") + "\n\n-- \nAtrium\n"
	return l.outbox.Enqueue(ctx, tx, mail.Message{To: to.to, Of: to.of, Subject: to.in.T(subject), Text: text})
}

// inWords describes how long to wait.
func inWords(wait time.Duration) locale.Text {
	minutes := max(1, int((wait+time.Minute-1)/time.Minute))
	return locale.Count(minutes, "in a minute", "in %d minutes", minutes)
}
