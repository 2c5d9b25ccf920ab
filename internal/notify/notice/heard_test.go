package notice_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/ent/event"
	"atrium/internal/desk/request"
	"atrium/internal/notify/notice"
	"atrium/internal/op"
	"atrium/internal/op/events"
	"atrium/internal/people"
	"atrium/internal/platform/principal"
	"atrium/internal/policy"
	"atrium/internal/test/testkit"
)

// submit creates a request of the member's, which staff accept. Nobody is assigned to it.
func (d *desk) submit(title string, teamID *string) op.ByID {
	d.t.Helper()
	in := request.CreateInput{ServiceID: d.offering.ServiceID, OfferingID: d.offering.ID, Title: title}
	by := op.ByID{ID: testkit.Run(d.t, d.World, d.As(d.A, principal.Member), request.Create, in).ID}
	change := request.UpdateInput{ByID: by, Status: op.SetTo("IN_PROGRESS")}
	if teamID != nil {
		change.TeamID = op.SetTo(*teamID)
	}
	testkit.Run(d.t, d.World, d.As(d.A, principal.Agent), request.Update, change)
	return by
}

// says comments on a request.
func (d *desk) says(as context.Context, on op.ByID, body string) {
	d.t.Helper()
	testkit.Run(d.t, d.World, as, request.CreateComment, request.CreateCommentInput{ByID: on, Body: body})
}

// news returns the subjects of what a person was told since news was last asked for.
func (d *desk) news(of context.Context) (subjects []string) {
	d.t.Helper()
	d.idle()
	for _, n := range d.told(of, new(true)) {
		subjects = append(subjects, n.Subject)
		testkit.Run(d.t, d.World, of, notice.MarkRead, notice.MarkReadInput{IDs: []string{n.ID}})
	}
	return subjects
}

// What a requester says of an accepted request to which nobody is assigned is told to its team, and without one to admins and owners, as
// long as nobody of the desk watches it.
func TestRequestersAreHeard(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		member, agent, admin, owner := d.As(d.A, principal.Member), d.As(d.A, principal.Agent), d.As(d.A, principal.Admin), d.As(d.A, principal.Owner)
		team := testkit.Run(t, d.World, owner, people.CreateTeam, people.CreateTeamInput{Name: "Desk", MemberIDs: []string{d.A.Users[principal.Agent].ID}})

		teams := d.submit("Laptop", &team.ID)
		d.says(member, teams, "It is slow.")
		require.Equal(t, []string{"New comment: #1 Laptop"}, d.news(agent))
		require.Empty(t, d.news(admin), "the team hears it")
		require.Empty(t, d.news(member))

		nobodys := d.submit("Phone", nil)
		d.says(member, nobodys, "It is black.")
		require.Equal(t, []string{"New comment: #2 Phone"}, d.news(admin))
		require.Equal(t, []string{"New comment: #2 Phone"}, d.news(owner))
		require.Empty(t, d.news(agent))

		d.says(agent, nobodys, "Which one?") // and watches it
		d.says(member, nobodys, "The old one.")
		require.Equal(t, []string{"New comment: #2 Phone"}, d.news(agent))
		require.Empty(t, d.news(admin), "somebody watches it")

		d.says(member, d.submit("Desk", nil), "@"+d.A.Users[principal.Agent].Email+" please")
		require.Empty(t, d.news(admin), "the mention is heard")

		hide := policy.NewCondition([]byte(`{"resource.title": "Secret", "principal.role": "agent"}`))
		hidden := d.submit("Secret", &team.ID)
		testkit.Run(t, d.World, owner, policy.Create, policy.CreateInput{Name: "Hide", Effect: "Deny", Action: "read", Resource: "Request", Condition: &hide})
		d.news(agent)
		d.says(member, hidden, "Psst.")
		require.Empty(t, d.news(agent))
		require.Equal(t, []string{"New comment: #4 Secret"}, d.news(admin), "nobody of the team may read it")
	})
}

// What a requester says of a request that was cancelled is heard as well: of a merged one by whoever works on the request that stays.
func TestRequestersAreHeardAfterTheEnd(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		member, agent, admin, owner := d.As(d.A, principal.Member), d.As(d.A, principal.Agent), d.As(d.A, principal.Admin), d.As(d.A, principal.Owner)

		declined := d.submit("Laptop", nil)
		testkit.Run(t, d.World, agent, request.Decline, request.DeclineInput{ByID: declined, Reason: "None left"})
		d.says(member, declined, "I still need it.")
		require.Equal(t, []string{"New comment: #1 Laptop"}, d.news(admin))
		require.Equal(t, []string{"New comment: #1 Laptop"}, d.news(owner))

		stays := d.file(principal.Owner, "Network", d.A.Users[principal.Agent])
		between, double := d.submit("Wifi", nil), d.submit("Internet", nil)
		testkit.Run(t, d.World, owner, request.Merge, request.MergeInput{ByID: double, Into: between.ID})
		testkit.Run(t, d.World, owner, request.Merge, request.MergeInput{ByID: between, Into: stays.ID})
		d.news(agent)
		d.says(member, double, "It is back.")
		require.Equal(t, []string{"New comment: #4 Internet"}, d.news(agent), "who works on the one that stays")
		require.Empty(t, d.news(admin))
	})
}

// A requester who opens a request again to which nobody is assigned, and which no team has, is heard.
func TestReopeningIsHeard(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		member, agent, admin := d.As(d.A, principal.Member), d.As(d.A, principal.Agent), d.As(d.A, principal.Admin)
		again := func(as context.Context, by op.ByID) {
			testkit.Run(t, d.World, agent, request.Update, request.UpdateInput{ByID: by, Status: op.SetTo("COMPLETED")})
			testkit.Run(t, d.World, as, request.Reopen, request.ReopenInput{ByID: by})
		}
		first := d.submit("Laptop", nil)
		again(member, first)
		require.Equal(t, []string{"Reopened: #1 Laptop"}, d.news(admin))
		require.Empty(t, d.news(agent))
		again(agent, first)
		require.Empty(t, d.news(admin), "staff have opened it again")

		testkit.Run(t, d.World, agent, request.Watch, request.WatchInput{ByID: first})
		again(member, first)
		require.Contains(t, d.news(agent), "Reopened: #1 Laptop")
		require.Empty(t, d.news(admin), "somebody watches it")
	})
}

// A member who was made to watch somebody else's request hears nothing of it: neither what is said, nor internal notes, nor its end.
func TestWatchingLetsNobodyRead(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		who, agent, owner := d.A.Users[principal.Member], d.As(d.A, principal.Agent), d.As(d.A, principal.Owner)
		in := request.CreateInput{ServiceID: d.offering.ServiceID, OfferingID: d.offering.ID, Title: "Laptop"}
		by := op.ByID{ID: testkit.Run(t, d.World, owner, request.Create, in).ID}
		testkit.Run(t, d.World, owner, request.Watch, request.WatchInput{ByID: by, UserID: &who.ID})
		d.says(agent, by, "A word")
		testkit.Run(t, d.World, agent, request.CreateComment, request.CreateCommentInput{ByID: by, Body: "A note", Visibility: new("internal")})
		testkit.Run(t, d.World, agent, request.Decline, request.DeclineInput{ByID: by, Reason: "no"})
		require.Empty(t, d.news(d.AsUser(who)))
		d.pass(later)
		require.Empty(t, d.mails.of(who))
	})
}

// Whose request was closed as a duplicate of one that they may not read hears when that one is solved, of their own request and nothing of
// the other; also by way of a second merge. Whoever reads the other hears of it as its watcher.
func TestRequestersOfDuplicatesHearWhenItIsSolved(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		member, agent, owner := d.As(d.A, principal.Member), d.As(d.A, principal.Agent), d.As(d.A, principal.Owner)
		stays := op.ByID{ID: d.file(principal.Owner, "Secret network", d.A.Users[principal.Admin]).ID}
		between := op.ByID{ID: d.file(principal.Agent, "Wifi", d.A.Users[principal.Admin]).ID}
		double := d.submit("Internet", nil)
		testkit.Run(t, d.World, owner, request.Merge, request.MergeInput{ByID: double, Into: between.ID})
		testkit.Run(t, d.World, owner, request.Merge, request.MergeInput{ByID: between, Into: stays.ID})
		require.Equal(t, []string{"Closed as a duplicate: #3 Internet"}, d.news(member))
		d.news(agent)

		for _, status := range []string{"IN_PROGRESS", "COMPLETED"} {
			testkit.Run(t, d.World, d.As(d.A, principal.Admin), request.Update, request.UpdateInput{ByID: stays, Status: op.SetTo(status)})
		}
		require.Eventually(t, func() bool { return len(d.told(member, new(true))) > 0 }, patience, tick)
		d.idle()
		d.pass(later)
		require.Equal(t, []string{"Solved: #3 Internet"}, d.news(member))
		require.Equal(t, []string{"Completed: #1 Secret network"}, d.news(agent), "who may read the one that stays")
		mails := d.mails.of(d.A.Users[principal.Member])
		require.Contains(t, mails[len(mails)-1], "Your request was closed as a duplicate of another one, which is solved now.")
		require.NotContains(t, strings.Join(mails, "\n"), "Secret")
	})
}

// An internal note that becomes public is told as a comment is: to the requester, and not again to the staff who have heard of it.
func TestPublishedNotesAreTold(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		member, agent, owner := d.As(d.A, principal.Member), d.As(d.A, principal.Agent), d.As(d.A, principal.Owner)
		by := d.submit("Laptop", nil)
		testkit.Run(t, d.World, owner, request.Watch, request.WatchInput{ByID: by})
		c := testkit.Run(t, d.World, agent, request.CreateComment, request.CreateCommentInput{ByID: by, Body: "A note", Visibility: new("internal")})
		require.Equal(t, []string{"New comment: #1 Laptop"}, d.news(owner))
		require.Empty(t, d.news(member))

		publish := request.UpdateCommentInput{ByID: op.ByID{ID: c.ID}, Visibility: op.SetTo("public")}
		testkit.Run(t, d.World, agent, request.UpdateComment, publish)
		require.Equal(t, []string{"Answered: #1 Laptop"}, d.news(member))
		require.Empty(t, d.news(owner))
		testkit.Run(t, d.World, agent, request.UpdateComment, publish)
		require.Empty(t, d.news(member), "once")

		// A requester who is staff hears of it as well, and what they publish themselves is told to nobody twice.
		admin := d.As(d.A, principal.Admin)
		own := op.ByID{ID: testkit.Run(t, d.World, agent, request.Create, request.CreateInput{ServiceID: d.offering.ServiceID, OfferingID: d.offering.ID, Title: "Phone"}).ID}
		testkit.Run(t, d.World, owner, request.Watch, request.WatchInput{ByID: own})
		d.news(agent)
		c = testkit.Run(t, d.World, admin, request.CreateComment, request.CreateCommentInput{ByID: own, Body: "A note", Visibility: new("internal")})
		require.Equal(t, []string{"New comment: #2 Phone"}, d.news(owner))
		require.Empty(t, d.news(agent))
		publish.ID = c.ID
		testkit.Run(t, d.World, admin, request.UpdateComment, publish)
		require.Equal(t, []string{"Answered: #2 Phone"}, d.news(agent))
		require.Empty(t, d.news(owner))
		d.news(admin)
		c = testkit.Run(t, d.World, agent, request.CreateComment, request.CreateCommentInput{ByID: own, Body: "My note", Visibility: new("internal")})
		require.Equal(t, []string{"New comment: #2 Phone"}, d.news(owner))
		d.news(admin)
		publish.ID = c.ID
		testkit.Run(t, d.World, agent, request.UpdateComment, publish)
		require.Empty(t, d.news(owner))
		require.Empty(t, d.news(admin))

		n, err := d.Store.Reader().Event.Query().Where(event.SubjectID(by.ID), event.Type(events.RequestCommented)).Count(owner)
		require.NoError(t, err)
		require.Equal(t, 2, n)
	})
}
