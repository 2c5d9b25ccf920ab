package notice_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/internal/desk/request"
	"atrium/internal/notify/notice"
	"atrium/internal/op"
	"atrium/internal/people"
	"atrium/internal/platform/principal"
	"atrium/internal/policy"
	"atrium/internal/test/testkit"
)

// The requester hears of answers to a request and of its end, of each once, and of nothing that they did or may not read.
func TestRequestersAreTold(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		member, staff := d.As(d.A, principal.Member), d.As(d.A, principal.Agent)
		who := d.A.Users[principal.Member]
		file := func(title string) op.ByID {
			in := request.CreateInput{ServiceID: d.offering.ServiceID, OfferingID: d.offering.ID, Title: title}
			return op.ByID{ID: testkit.Run(t, d.World, member, request.Create, in).ID}
		}
		hears := func(subjects ...string) {
			t.Helper()
			require.Eventually(t, func() bool { return len(d.told(member, nil)) >= len(subjects) }, patience, tick)
			d.idle()
			var got []string
			for _, n := range d.told(member, nil) {
				require.Equal(t, notice.Progress, string(n.Kind))
				got = append(got, n.Subject)
			}
			require.Equal(t, subjects, got)
		}
		comment := request.CreateCommentInput{ByID: file("Laptop"), Body: "Which one?"}
		testkit.Run(t, d.World, staff, request.CreateComment, comment)
		hears("Answered: #1 Laptop")
		testkit.Run(t, d.World, member, request.CreateComment, comment)
		comment.Visibility = new("internal")
		testkit.Run(t, d.World, staff, request.CreateComment, comment)
		testkit.Run(t, d.World, staff, request.Decline, request.DeclineInput{ByID: comment.ByID, Reason: "None left, see https://shop.test"})
		hears("Declined: #1 Laptop", "Answered: #1 Laptop")
		d.pass(later)
		by := d.A.Users[principal.Agent].Name
		require.Equal(t, "progress: #1 Laptop\n"+by+" answered your request.\nWhich one?\n/requests/"+comment.ID, d.mails.of(who)[0])
		require.Equal(t, "progress: #1 Laptop\n"+by+" declined your request.\nNone left, see https://shop.test\n/requests/"+comment.ID, d.mails.of(who)[1], "one subject for all mails about it")

		done := file("Phone")
		for _, status := range []string{"IN_PROGRESS", "COMPLETED"} {
			testkit.Run(t, d.World, staff, request.Update, request.UpdateInput{ByID: done, Status: op.SetTo(status)})
		}
		hears("Completed: #2 Phone", "Declined: #1 Laptop", "Answered: #1 Laptop")
		testkit.Run(t, d.World, staff, request.Reopen, request.ReopenInput{ByID: done, Reason: new("It broke again.")})
		hears("Reopened: #2 Phone", "Completed: #2 Phone", "Declined: #1 Laptop", "Answered: #1 Laptop")
		d.pass(later)
		require.Equal(t, "progress: #2 Phone\n"+by+" reopened your request.\nIt broke again.\n/requests/"+done.ID, d.mails.of(who)[3], "a mail says why")
		testkit.Run(t, d.World, member, request.Update, request.UpdateInput{ByID: file("Desk"), Status: op.SetTo("CANCELLED")})

		hidden, left := file("Secret"), file("Chair")
		hide := policy.NewCondition([]byte(`{"resource.title": "Secret", "principal.role": "member"}`))
		testkit.Run(t, d.World, d.As(d.A, principal.Owner), policy.Create, policy.CreateInput{Name: "Hide", Effect: "Deny", Action: "read", Resource: "Request", Condition: &hide})
		testkit.Run(t, d.World, staff, request.Decline, request.DeclineInput{ByID: hidden, Reason: "no"})
		testkit.Run(t, d.World, d.As(d.A, principal.Admin), people.DeactivateUser, people.DeactivateUserInput{ByID: op.ByID{ID: who.ID}})
		testkit.Run(t, d.World, staff, request.Decline, request.DeclineInput{ByID: left, Reason: "no"})
		d.idle()
		require.Len(t, d.mails.of(who), 4)
	})
}

// A person for whom staff file hears of it, with what was filed; nobody hears of what they file for themselves.
func TestRequestersHearWhatIsFiledForThem(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		who, staff := d.A.Users[principal.Member], d.A.Users[principal.Agent]
		for _, requester := range []string{staff.ID, who.ID} {
			testkit.Run(t, d.World, d.AsUser(staff), request.Create, request.CreateInput{
				ServiceID: d.offering.ServiceID, OfferingID: d.offering.ID, Title: "Laptop", Description: new("14 inch"), RequesterID: &requester,
			})
		}
		require.Eventually(t, func() bool { return len(d.told(d.AsUser(who), nil)) == 1 }, patience, tick)
		d.idle()
		require.Empty(t, d.told(d.AsUser(staff), nil))
		require.Equal(t, "Submitted for you: #2 Laptop", d.told(d.AsUser(who), nil)[0].Subject)
		require.Contains(t, d.mails.of(who)[0], staff.Name+" submitted this request for you.\n14 inch\n")
	})
}

// Whoever works on a request hears that its requester has opened it again: its assignee, else its team. They hear nothing of what they
// open again themselves.
func TestWorkersHearOfReopening(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		owner, member := d.As(d.A, principal.Owner), d.As(d.A, principal.Member)
		agent, admin := d.A.Users[principal.Agent], d.A.Users[principal.Admin]
		team := testkit.Run(t, d.World, owner, people.CreateTeam, people.CreateTeamInput{Name: "Desk", MemberIDs: []string{agent.ID, admin.ID}})
		again := func(as context.Context, assignee *string) {
			r := testkit.Run(t, d.World, member, request.Create, request.CreateInput{ServiceID: d.offering.ServiceID, OfferingID: d.offering.ID, Title: "Laptop"})
			in := request.UpdateInput{ByID: op.ByID{ID: r.ID}, TeamID: op.SetTo(team.ID)}
			if assignee != nil {
				in.AssigneeID = op.SetTo(*assignee)
			}
			for _, status := range []string{"IN_PROGRESS", "COMPLETED"} {
				in.Status = op.SetTo(status)
				testkit.Run(t, d.World, owner, request.Update, in)
			}
			testkit.Run(t, d.World, as, request.Reopen, request.ReopenInput{ByID: in.ByID, Reason: new("Its fan again.")})
		}
		hears := func(role principal.Role, subjects ...string) {
			t.Helper()
			var got []string
			require.Eventually(t, func() bool {
				got = nil
				for _, n := range d.told(d.As(d.A, role), nil) {
					if !strings.HasPrefix(n.Subject, "Completed: ") { // of which who watches hears if it is not over by then
						got = append(got, n.Subject)
					}
				}
				return len(got) >= len(subjects)
			}, patience, tick)
			require.ElementsMatch(t, subjects, got) // two jobs of one moment may end in any order
		}
		again(member, &agent.ID) // who watches it, being assigned
		hears(principal.Agent, "Reopened: #1 Laptop", "Assigned to you: #1 Laptop")
		hears(principal.Admin) // an assignee is there
		d.pass(later)
		require.True(t, slices.ContainsFunc(d.mails.of(agent), func(m string) bool { return strings.Contains(m, "Its fan again.") }), "who works on it reads why")
		again(member, nil)
		hears(principal.Admin, "Reopened: #2 Laptop")
		hears(principal.Agent, "Reopened: #2 Laptop", "Reopened: #1 Laptop", "Assigned to you: #1 Laptop")
		again(d.As(d.A, principal.Admin), nil)
		hears(principal.Agent, "Reopened: #3 Laptop", "Reopened: #2 Laptop", "Reopened: #1 Laptop", "Assigned to you: #1 Laptop")
		hears(principal.Admin, "Reopened: #2 Laptop")
	})
}

// Those who watch a request hear of comments, internal ones as well if they may read them, and of its end, each of each once; not of
// what they do themselves.
func TestWatchersAreTold(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		who, agent, owner := d.A.Users[principal.Member], d.A.Users[principal.Agent], d.A.Owner
		member, staff := d.AsUser(who), d.AsUser(agent)
		r := testkit.Run(t, d.World, member, request.Create, request.CreateInput{ServiceID: d.offering.ServiceID, OfferingID: d.offering.ID, Title: "Laptop"})
		by := op.ByID{ID: r.ID}
		testkit.Run(t, d.World, staff, request.Watch, request.WatchInput{ByID: by})
		testkit.Run(t, d.World, member, request.CreateComment, request.CreateCommentInput{ByID: by, Body: "It is *slow*."})
		require.Eventually(t, func() bool { return len(d.told(staff, nil)) == 1 }, patience, tick)
		d.idle()
		require.Equal(t, "progress: #1 Laptop\n"+who.Name+" commented on this request.\nIt is *slow*.\n/requests/"+r.ID, d.mails.of(agent)[0])
		require.Empty(t, d.told(member, nil))

		testkit.Run(t, d.World, d.AsUser(owner), request.CreateComment, request.CreateCommentInput{ByID: by, Body: "A note", Visibility: new("internal")})
		testkit.Run(t, d.World, d.AsUser(owner), request.CreateComment, request.CreateCommentInput{ByID: by, Body: "@" + agent.Email + " look"})
		testkit.Run(t, d.World, staff, request.Decline, request.DeclineInput{ByID: by, Reason: "no"})
		require.Eventually(t, func() bool {
			return len(d.told(staff, nil)) == 3 && len(d.told(member, nil)) == 2 && len(d.told(d.AsUser(owner), nil)) == 1
		}, patience, tick)
		d.idle()
		subjects := func(of context.Context) (out []string) {
			for _, n := range d.told(of, nil) {
				out = append(out, n.Subject)
			}
			return out
		}
		require.ElementsMatch(t, []string{"New comment: #1 Laptop", "New comment: #1 Laptop", owner.Name + " mentioned you: #1 Laptop"}, subjects(staff))
		require.Equal(t, []string{"Declined: #1 Laptop"}, subjects(d.AsUser(owner)), "who commented watches")
		require.ElementsMatch(t, []string{"Answered: #1 Laptop", "Declined: #1 Laptop"}, subjects(member))
	})
}
