package doors

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/internal/desk/request"
	"atrium/internal/op"
	"atrium/internal/platform/principal"
	"atrium/internal/policy"
	"atrium/internal/test/apitest"
	"atrium/internal/test/testkit"
)

// What a mail quoted may be what others may not read: an internal note, or an earlier result of a workflow. Staff who read every comment read
// it; members do not, nor staff from whom access policies hide comments, by whatever door and operation.
func TestQuotationsAreForStaff(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		s := apitest.Serve(t, w, both)
		d := newSide(t, s)
		filed := s.Do(t, apitest.Scenario{As: s.A.Member, Method: http.MethodPost, Path: "/v1/requests", WantStatus: 201,
			Body: vars{"offeringId": d.offering(), "serviceId": d.known["<service>"], "title": "Laptop"}}).ID()
		const secret = "> Do not tell her."
		say := func(as principal.Role) string {
			quoted := secret
			return testkit.Run(t, w, w.As(w.A, as), request.CreateComment, request.CreateCommentInput{ByID: op.ByID{ID: filed}, Body: "It comes.", ByMail: true, Quoted: &quoted}).ID
		}
		say(principal.Agent)
		own := say(principal.Member)
		reads := func(as apitest.Caller, want any) {
			t.Helper()
			list := s.Do(t, apitest.Scenario{As: as, Path: "/v1/requests/" + filed + "/comments"})
			require.Equal(t, []any{want, want}, list.Column("quoted"), "%s: %s", as.Name, list.Body)
			g := s.Send(t, apitest.Scenario{As: as, Method: http.MethodPost, Path: "/graphql", Body: vars{
				"query":     `query($id: ID!) { request(id: $id) { comments(first: 5) { edges { node { body quoted } } } } }`,
				"variables": vars{"id": filed},
			}})
			require.Equal(t, want, g.Get("data.request.comments.edges.0.node.quoted"), "%s: %s", as.Name, g.Body)
			require.Equal(t, want, g.Get("data.request.comments.edges.1.node.quoted"), "%s: %s", as.Name, g.Body)
		}
		for _, as := range []apitest.Caller{s.A.Member, s.A.MemberKey} {
			reads(as, nil)
		}
		s.Do(t, apitest.Scenario{As: s.A.Member, Method: http.MethodPatch, Path: "/v1/comments/" + own, Body: vars{"body": "It came."}, WantData: map[string]any{"quoted": nil}})
		for _, as := range []apitest.Caller{s.A.Agent, s.A.Owner, s.A.OwnerKey} {
			reads(as, secret)
		}
		hide := policy.NewCondition([]byte(`{"principal.role": "agent", "resource.visibility": "internal"}`))
		testkit.Run(t, w, w.As(w.A, principal.Owner), policy.Create, policy.CreateInput{Name: "Hide", Effect: "Deny", Action: "read", Resource: "Comment", Condition: &hide})
		reads(s.A.Agent, nil)
		reads(s.A.Owner, secret)
	})
}
