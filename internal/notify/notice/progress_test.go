package notice_test

import (
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
		by := d.A.Users[principal.Agent].Name
		require.Equal(t, "progress: #1 Laptop\n"+by+" answered your request.\nWhich one?\n/requests/"+comment.ID, d.mails.of(who)[0])
		require.Equal(t, "progress: #1 Laptop\n"+by+" declined your request.\nNone left, see https://shop.test\n/requests/"+comment.ID, d.mails.of(who)[1], "one subject for all mails about it")

		done := file("Phone")
		for _, status := range []string{"IN_PROGRESS", "COMPLETED"} {
			testkit.Run(t, d.World, staff, request.Update, request.UpdateInput{ByID: done, Status: op.SetTo(status)})
		}
		hears("Completed: #2 Phone", "Declined: #1 Laptop", "Answered: #1 Laptop")
		testkit.Run(t, d.World, member, request.Update, request.UpdateInput{ByID: file("Desk"), Status: op.SetTo("CANCELLED")})

		hidden, left := file("Secret"), file("Chair")
		hide := policy.NewCondition([]byte(`{"resource.title": "Secret", "principal.role": "member"}`))
		testkit.Run(t, d.World, d.As(d.A, principal.Owner), policy.Create, policy.CreateInput{Name: "Hide", Effect: "Deny", Action: "read", Resource: "Request", Condition: &hide})
		testkit.Run(t, d.World, staff, request.Decline, request.DeclineInput{ByID: hidden, Reason: "no"})
		testkit.Run(t, d.World, d.As(d.A, principal.Admin), people.DeactivateUser, people.DeactivateUserInput{ByID: op.ByID{ID: who.ID}})
		testkit.Run(t, d.World, staff, request.Decline, request.DeclineInput{ByID: left, Reason: "no"})
		d.idle()
		require.Len(t, d.mails.of(who), 3)
	})
}
