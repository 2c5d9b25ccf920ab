package main_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// The people of the demo company decide on what one of them files: the member asks for something expensive, the lead approves for the
// budget, and somebody of finance besides. A purchase of the member waits for that from the beginning.
func TestDemoPeopleDecide(t *testing.T) {
	each(t, func(t *testing.T, p place) {
		n := p.serve()
		c := n.client()
		as := func(name string) string { return p.token(p.firstRun().Company.ID, name+"@demo.example") }
		member, lead, staff := as("member"), as("lead"), as("staff")
		require.Eventually(t, func() bool { return len(n.list(lead, "/v1/approvals?status=PENDING")) == 1 }, patience, step)
		require.Empty(t, n.list(member, "/v1/approvals"))

		buy := n.offering(member, "Buy something")
		body := fmt.Sprintf(`{"serviceId":%q,"offeringId":%q,"title":"Chairs","fields":{"what":"Chairs","reason":"The old ones break.","every":"Once","amount":9000,"budget":"4711"}}`, buy.service, buy.id)
		filed := under(t, decode(t, n.call(c, 201, "POST", "/v1/requests", member, body).body), "data")["id"].(string)
		asked := "/v1/approvals?status=PENDING&requestId=" + filed
		require.Eventually(t, func() bool { return len(n.list(lead, asked)) == 1 }, patience, step)
		decide := "/v1/approvals/" + n.list(lead, asked)[0].(map[string]any)["id"].(string) + "/decide"
		n.call(c, 409, "POST", decide, staff, `{"decision":"APPROVE"}`) // finance comes after the budget's owners
		n.call(c, 200, "POST", decide, lead, `{"decision":"APPROVE"}`)
		n.call(c, 200, "POST", decide, staff, `{"decision":"APPROVE"}`)
		n.openTask(staff, filed)
	})
}
