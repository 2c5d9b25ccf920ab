package notice_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/ent/attachment"
	"atrium/ent/notification"
	"atrium/ent/user"
	files "atrium/internal/desk/attachment"
	"atrium/internal/desk/request"
	"atrium/internal/notify/notice"
	"atrium/internal/op"
	"atrium/internal/people"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/policy"
	"atrium/internal/test/testkit"
)

// conversation is a request of a member to which staff write.
type conversation struct {
	*desk
	who, staff *ent.User
	by         op.ByID
}

// ask files a request of the member.
func (d *desk) ask(title string) *conversation {
	d.t.Helper()
	c := &conversation{desk: d, who: d.A.Users[principal.Member], staff: d.A.Users[principal.Agent]}
	in := request.CreateInput{ServiceID: d.offering.ServiceID, OfferingID: d.offering.ID, Title: title}
	c.by.ID = testkit.Run(d.t, d.World, d.AsUser(c.who), request.Create, in).ID
	d.idle()
	return c
}

// say has staff comment, and waits until the requester is told.
func (c *conversation) say(body string) *ent.Comment {
	c.t.Helper()
	out := testkit.Run(c.t, c.World, c.AsUser(c.staff), request.CreateComment, request.CreateCommentInput{ByID: c.by, Body: body})
	c.idle()
	return out
}

// later is when what waits for two minutes is due.
const later = 2*time.Minute + 2*time.Second

// pass lets time pass, and runs the job of what has fallen due.
func (d *desk) pass(by time.Duration) {
	d.t.Helper()
	d.Clock.SetOffset(d.Clock.Offset() + by)
	require.NoError(d.t, notice.MailDigests(d.t.Context(), d.Engine, reads))
}

// Mails name the files of a comment, the one that is sent at once and the one that tells several things, but none that a reader may not read.
func TestMailsNameFiles(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		member, staff, who := d.As(d.A, principal.Member), d.As(d.A, principal.Agent), d.A.Users[principal.Member]
		draft := func(name string, size int64, scan attachment.Scan) (id string) {
			require.NoError(t, d.Store.Write(staff, func(ctx context.Context, tx *store.Tx) error {
				a, err := tx.Attachment.Create().SetName(name).SetSize(size).SetCreatedBy(d.A.Users[principal.Agent].ID).SetStatus(attachment.StatusREADY).SetScan(scan).Save(ctx)
				id = a.ID
				return err
			}))
			return id
		}
		r := testkit.Run(t, d.World, member, request.Create, request.CreateInput{ServiceID: d.offering.ServiceID, OfferingID: d.offering.ID, Title: "Laptop"})
		say := func(files ...string) {
			testkit.Run(t, d.World, staff, request.CreateComment, request.CreateCommentInput{ByID: op.ByID{ID: r.ID}, Body: "See attached.", AttachmentIDs: files})
			d.idle()
		}
		say(draft("offer.pdf", 1500, attachment.ScanCLEAN), draft("plan.png", 3<<20, attachment.ScanPENDING), draft("virus.exe", 1, attachment.ScanINFECTED))
		d.pass(later)
		first := d.mails.of(who)[0]
		require.Contains(t, first, "Files at the request: offer.pdf (2 KB), plan.png (3 MB)\nSee attached.")
		require.NotContains(t, first, "virus")

		hide := policy.NewCondition([]byte(`{"principal.role": "member", "resource.name": "secret.txt"}`))
		testkit.Run(t, d.World, d.As(d.A, principal.Owner), policy.Create, policy.CreateInput{Name: "Hide", Effect: "Deny", Action: "read", Resource: "Attachment", Condition: &hide})
		say()
		say(draft("secret.txt", 1, attachment.ScanCLEAN), draft("open.txt", 1, attachment.ScanCLEAN))
		d.pass(later)
		grouped := d.mails.of(who)[len(d.mails.of(who))-1]
		require.Contains(t, grouped, "Files at the request: open.txt (1 KB)")
		require.NotContains(t, grouped, "secret.txt")

		d.pass(later)
		mention := request.CreateCommentInput{ByID: op.ByID{ID: r.ID}, Body: "Look at these, @" + who.ID, AttachmentIDs: []string{
			draft("secret.txt", 1, attachment.ScanCLEAN), draft("found.exe", 1, attachment.ScanINFECTED), draft("map.png", 5000, attachment.ScanCLEAN),
		}}
		c := testkit.Run(t, d.World, staff, request.CreateComment, mention)
		d.pass(later)
		told := d.mails.of(who)[len(d.mails.of(who))-1]
		require.Contains(t, told, "mentioned you in a comment.\nFiles at the request: map.png (5 KB)\nLook at these")
		owner := d.A.Users[principal.Owner]
		testkit.Run(t, d.World, staff, request.UpdateComment, request.UpdateCommentInput{ByID: op.ByID{ID: c.ID}, Body: op.SetTo("Look, @" + owner.ID)})
		d.pass(later)
		require.Contains(t, d.mails.of(owner)[len(d.mails.of(owner))-1], "Files at the request: secret.txt (1 KB), map.png (5 KB)", "whom an edit mentions")
	})
}

// A mail that waits goes to nobody who has lost the right to read the request meanwhile, nor for a task or an approval that waits for them
// no more.
func TestWaitingMailsAskAgain(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		owner := d.As(d.A, principal.Owner)
		c := d.ask("Laptop")
		testkit.Run(t, d.World, owner, request.Update, request.UpdateInput{ByID: c.by, AssigneeID: op.SetTo(c.staff.ID)})
		d.idle()
		require.Len(t, d.mails.of(c.staff), 1)
		for _, status := range []string{"IN_PROGRESS", "COMPLETED"} {
			testkit.Run(t, d.World, owner, request.Update, request.UpdateInput{ByID: c.by, Status: op.SetTo(status)})
		}
		d.idle()
		require.Contains(t, d.told(d.AsUser(c.staff), nil)[0].Subject, "Completed")
		require.Len(t, d.mails.of(c.staff), 1, "it waits")
		testkit.Run(t, d.World, owner, people.UpdateUser, people.UpdateUserInput{ByID: op.ByID{ID: c.staff.ID}, Role: op.SetTo("member")})
		d.pass(later)
		require.Len(t, d.mails.of(c.staff), 1)
	})
}

// Whoever added a file hears that the virus scanner has found something in it; of one that came by mail, whoever works on the request.
func TestQuarantineIsTold(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		member, staff := d.A.Users[principal.Member], d.A.Users[principal.Agent]
		r := d.ask("Laptop").by
		testkit.Run(t, d.World, d.As(d.A, principal.Owner), request.Update, request.UpdateInput{ByID: r, AssigneeID: op.SetTo(staff.ID)})
		found := func(set func(*ent.AttachmentCreate)) {
			require.NoError(t, d.Store.Write(d.AsUser(member), func(ctx context.Context, tx *store.Tx) error {
				c := tx.Attachment.Create().SetName("virus.exe").SetSize(1).SetCreatedBy(member.ID).SetStatus(attachment.StatusREADY).SetScan(attachment.ScanINFECTED)
				set(c)
				a, err := c.Save(ctx)
				if err != nil {
					return err
				}
				return d.World.Queue.InsertTx(ctx, tx, files.QuarantinedArgs{Company: a.CompanyID, ID: a.ID}, time.Time{})
			}))
			d.idle()
		}
		about := func(u *ent.User) (out []string) {
			for _, n := range d.told(d.AsUser(u), nil) {
				if strings.HasPrefix(n.Subject, "Quarantined: virus.exe") {
					out = append(out, string(n.Kind))
				}
			}
			return out
		}
		found(func(*ent.AttachmentCreate) {})
		require.Equal(t, []string{notice.Progress}, about(member), "a draft")
		said := testkit.Run(t, d.World, d.AsUser(member), request.CreateComment, request.CreateCommentInput{ByID: r, Body: "See this."})
		withSaid := func(c *ent.AttachmentCreate) { c.SetRequestID(r.ID).SetCommentID(said.ID) }
		found(withSaid)
		require.Len(t, about(member), 2)
		require.Empty(t, about(staff))

		require.NoError(t, d.Store.Write(d.AsUser(member), func(ctx context.Context, tx *store.Tx) error {
			box, err := tx.Mailbox.Create().SetAddress("help@a.test").SetKind("smtp").SetReceivesAt("help@in.test").SetOfferingID(d.offering.ID).SetCreatedBy(d.A.Owner.ID).Save(ctx)
			if err != nil {
				return err
			}
			return tx.InboundMail.Create().SetMailboxID(box.ID).SetRecipient(box.Address).SetSize(1).SetRequestID(r.ID).SetCommentID(said.ID).SetOutcome("COMMENT").Exec(ctx)
		}))
		found(withSaid)
		require.Equal(t, []string{notice.Assigned}, about(staff))
		require.Len(t, about(member), 2)
	})
}

// What happens within two minutes after a mail about a request is one mail to each reader, in order, and then it starts anew. What
// happens to another request is mailed at once.
func TestOneMailOfWhatHappensWithinTwoMinutes(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		c, other := d.ask("Laptop"), d.ask("Phone")
		answered := c.staff.Name + " answered your request.\n"
		c.say("Which one?")
		other.say("A red one?")
		require.Len(t, d.mails.of(c.who), 2, "the first mail about each is not kept waiting")
		c.say("And since when?")
		c.say("Is it *wet*?\nThat matters.")
		testkit.Run(t, d.World, d.AsUser(c.staff), request.Decline, request.DeclineInput{ByID: c.by, Reason: "None left."})
		d.idle()
		require.Len(t, d.mails.of(c.who), 2)
		d.pass(time.Minute)
		require.Len(t, d.mails.of(c.who), 2)
		d.pass(time.Minute + 2*time.Second)
		d.pass(0)
		require.Len(t, d.mails.of(c.who), 3, "once")
		require.Equal(t, "progress: #1 Laptop\n"+answered+"And since when?\n"+answered+"Is it *wet*?\nThat matters.\n"+
			c.staff.Name+" declined your request.\nNone left.\n/requests/"+c.by.ID, d.mails.of(c.who)[2])
		require.Len(t, d.told(d.AsUser(c.who), nil), 5, "the list has each")

		d.Clock.SetOffset(d.Clock.Offset() + 100*time.Second)
		c.say("One came back.")
		require.Len(t, d.mails.of(c.who), 3, "the last mail was not two minutes ago")
		d.pass(22 * time.Second)
		require.Len(t, d.mails.of(c.who), 4)
		d.Clock.SetOffset(d.Clock.Offset() + 3*time.Minute)
		c.say("It is yours.")
		require.Len(t, d.mails.of(c.who), 5)
		require.Zero(t, d.Store.Reader().Notification.Query().Where(notification.Or(notification.HeldNotNil(), notification.DigestAtNotNil())).CountX(d.As(d.A, principal.Owner)))
	})
}

// A mail that waits tells nothing that its reader has read, may not read or wants no mails of by then.
func TestWhatWaitsIsToldToWhomItConcerns(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		c := d.ask("Laptop")
		second := func() []string {
			t.Helper()
			before := len(d.mails.of(c.who))
			d.pass(later)
			out := d.mails.of(c.who)[before:]
			d.pass(later)
			require.Len(t, d.mails.of(c.who), before+len(out))
			return out
		}
		read := func() {
			all := d.told(d.AsUser(c.who), new(true))
			require.Equal(t, 1, testkit.Run(t, d.World, d.AsUser(c.who), notice.MarkRead, notice.MarkReadInput{IDs: []string{all[0].ID}}).Marked)
		}
		c.say("1")
		c.say("2")
		read()
		require.Empty(t, second())

		c.say("3")
		c.say("4")
		c.say("5")
		read()
		require.Len(t, second(), 1)
		require.Contains(t, d.mails.of(c.who)[2], "\n4\n")
		require.NotContains(t, d.mails.of(c.who)[2], "\n5\n")

		c.say("6")
		gone, wrong, inner := c.say("gone"), c.say("wrogn"), c.say("between us")
		testkit.Run(t, d.World, d.AsUser(c.staff), request.DeleteComment, op.ByID{ID: gone.ID})
		testkit.Run(t, d.World, d.AsUser(c.staff), request.UpdateComment, request.UpdateCommentInput{ByID: op.ByID{ID: wrong.ID}, Body: op.SetTo("wrong")})
		testkit.Run(t, d.World, d.AsUser(c.staff), request.UpdateComment, request.UpdateCommentInput{ByID: op.ByID{ID: inner.ID}, Visibility: op.SetTo("internal")})
		require.Equal(t, []string{"progress: #1 Laptop\n" + c.staff.Name + " answered your request.\nwrong\n/requests/" + c.by.ID}, second(), "as it is by then")

		c.say("7")
		c.say("8")
		require.NoError(t, d.Store.Write(principal.System(t.Context(), "test"), func(ctx context.Context, tx *store.Tx) error {
			return notice.SwitchOff(ctx, tx, c.who.ID, notice.Progress)
		}))
		require.Empty(t, second())
		testkit.Run(t, d.World, d.AsUser(c.who), notice.UpdateSettings, notice.Setting{Kind: notice.Progress, Channel: "now"})

		c.say("9")
		c.say("10")
		hide := policy.NewCondition([]byte(`{"resource.title": "Laptop", "principal.role": "member"}`))
		testkit.Run(t, d.World, d.As(d.A, principal.Owner), policy.Create, policy.CreateInput{Name: "Hide", Effect: "Deny", Action: "read", Resource: "Request", Condition: &hide})
		require.Empty(t, second())
	})
}

// A mail that waits is in the reader's language, and other readers get their own.
func TestWhatWaitsInTheReadersLanguage(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		c := d.ask("Laptop")
		owner := d.A.Owner
		testkit.Run(t, d.World, d.AsUser(c.who), people.UpdateViewer, people.UpdateViewerInput{Locale: op.SetTo("de")})
		testkit.Run(t, d.World, d.AsUser(owner), request.Watch, request.WatchInput{ByID: c.by})
		c.say("Welcher?")
		c.say("Seit wann?")
		testkit.Run(t, d.World, d.AsUser(c.staff), request.CreateComment, request.CreateCommentInput{ByID: c.by, Body: "@" + owner.Email + " look", Visibility: new("internal")})
		d.idle()
		d.pass(later)
		require.Equal(t, "progress: #1 Laptop\n"+c.staff.Name+" hat auf Ihre Anfrage geantwortet.\nSeit wann?\n/requests/"+c.by.ID, d.mails.of(c.who)[1])
		require.Equal(t, "mention: #1 Laptop\n"+c.staff.Name+" commented on this request.\nSeit wann?\n"+c.staff.Name+" mentioned you in an internal note.\n@"+owner.Name+
			" look\n/requests/"+c.by.ID, d.mails.of(owner)[1])
	})
}

// Whoever came by mail alone, and so is invited still, gets what waits as well; nobody does who was deactivated.
func TestWhatWaitsForTheInvited(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		c := d.ask("Laptop")
		status := func(to user.Status) {
			require.NoError(t, d.Store.Write(d.As(d.A, principal.Owner), func(ctx context.Context, tx *store.Tx) error {
				return tx.User.UpdateOneID(c.who.ID).SetStatus(to).Exec(ctx)
			}))
		}
		status(user.StatusInvited)
		c.say("1")
		c.say("2")
		d.pass(later)
		require.Len(t, d.mails.of(c.who), 2)
		c.say("3")
		status(user.StatusDeactivated)
		d.pass(later)
		require.Len(t, d.mails.of(c.who), 2)
	})
}

// What an erased person did is told without their name and words, to whoever came by mail alone, too.
func TestWhatWaitsOfAnErasedPerson(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		c := d.ask("Laptop")
		require.NoError(t, d.Store.Write(d.As(d.A, principal.Owner), func(ctx context.Context, tx *store.Tx) error {
			return tx.User.UpdateOneID(c.who.ID).SetStatus(user.StatusInvited).Exec(ctx)
		}))
		c.say("1")
		c.say("Call me at home.")
		testkit.Run(t, d.World, d.As(d.A, principal.Owner), people.ErasePerson, people.ErasePersonInput{UserID: c.staff.ID, Reason: "asked"})
		d.pass(later)
		require.Len(t, d.mails.of(c.who), 2)
		require.NotContains(t, d.mails.of(c.who)[1], c.staff.Name)
		require.NotContains(t, d.mails.of(c.who)[1], "home")
	})
}

// A run that fails leaves what waits as it was, and of runs at one time one mails it.
func TestWhatWaitsIsMailedOnce(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		c := d.ask("Laptop")
		c.say("1")
		c.say("2")
		d.Clock.SetOffset(d.Clock.Offset() + later)
		mails := d.Engine.Mailer
		d.Engine.Mailer = failing{}
		require.ErrorIs(t, notice.MailDigests(t.Context(), d.Engine, reads), errMail)
		d.Engine.Mailer = mails
		var runs sync.WaitGroup
		for range 4 {
			runs.Go(func() { require.NoError(t, notice.MailDigests(t.Context(), d.Engine, reads)) })
		}
		runs.Wait()
		require.Len(t, d.mails.of(c.who), 2)
	})
}

var errMail = errors.New("no mail now")

// failing is a mailer that cannot mail.
type failing struct{ op.Mailer }

func (failing) Tell(context.Context, *store.Tx, *ent.User, op.Told) error { return errMail }

// Of very many events one mail tells the first with their words, cut, and says that there are more.
func TestOneMailOfMany(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		c := d.ask("Laptop")
		for range 26 {
			testkit.Run(t, d.World, d.AsUser(c.staff), request.CreateComment, request.CreateCommentInput{ByID: c.by, Body: strings.Repeat("終", 5000)})
		}
		d.idle()
		d.pass(later)
		require.Len(t, d.mails.of(c.who), 2)
		said := d.mails.of(c.who)[1]
		require.Equal(t, 20, strings.Count(said, "answered your request."))
		require.Contains(t, said, "\nand more\n")
		require.Less(t, len(said), 30_000)
	})
}
