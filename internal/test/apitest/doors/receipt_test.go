package doors

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/internal/desk/request"
	"atrium/internal/notify/notice"
	"atrium/internal/op"
	"atrium/internal/platform/store"
	"atrium/internal/test/apitest"
	"atrium/internal/test/testkit"
	"atrium/internal/workflow/execution"
)

// letters counts the receipts that were mailed, by their readers' ids.
type letters struct {
	op.Mailer
	mu   sync.Mutex
	sent map[string]int
}

func (l *letters) Tell(_ context.Context, _ *store.Tx, u *ent.User, t op.Told) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if t.Kind == notice.Receipt {
		l.sent[u.ID]++
	}
	return nil
}

func (l *letters) of(id string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.sent[id]
}

// receipts is a server that mails receipts.
type receipts struct {
	*apitest.Server
	t       *testing.T
	letters *letters
	in      vars // a request
}

// ask calls GraphQL.
func (r *receipts) ask(as apitest.Caller, query string, in vars) *apitest.Answer {
	r.t.Helper()
	return r.Send(r.t, apitest.Scenario{As: as, Method: http.MethodPost, Path: "/graphql", Body: vars{"query": query, "variables": vars{"in": in}}})
}

// idle waits until every notice has been given.
func (r *receipts) idle() {
	r.t.Helper()
	require.Eventually(r.t, func() bool {
		for _, j := range r.World.Unfinished(r.t, r.World.A.Company.ID, r.World.A.Sandbox.ID) {
			if j.Kind == (notice.ProgressArgs{}).Kind() {
				return false
			}
		}
		return true
	}, time.Minute, 10*time.Millisecond)
}

// files has a caller submit a request at each door, and requires the same answers and the same receipts.
func (r *receipts) files(as apitest.Caller, want int, why string) {
	r.t.Helper()
	person := as.UserID
	before := r.letters.of(person)
	rest := r.Do(r.t, apitest.Scenario{As: as, Method: http.MethodPost, Path: "/v1/requests", Body: r.in, WantStatus: 201})
	r.idle()
	byREST := r.letters.of(person) - before
	gql := r.ask(as, `mutation($in: CreateRequestInput!) { createRequest(input: $in) { request { title status requesterId createdBy } } }`, r.in)
	r.idle()
	require.Equal(r.t, []int{want, want}, []int{byREST, r.letters.of(person) - before - byREST}, "%s: %s", as.Name, why)
	for _, field := range []string{"title", "status", "requesterId", "createdBy"} {
		require.Equal(r.t, rest.Get("data."+field), gql.Get("data.createRequest.request."+field), gql.Body)
	}
}

// Whoever submits a request as a person gets the same receipt from both doors, and none with a key. Who gets receipts is the company's
// choice, which admins make, and then each person's own.
func TestReceipts(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		r := &receipts{t: t, letters: &letters{sent: map[string]int{}}}
		w.Engine.Mailer = r.letters
		r.Server = apitest.Serve(t, w, both)
		d := newSide(t, r.Server)
		offering := d.offering()
		r.in = vars{"offeringId": offering, "serviceId": d.known["<service>"], "title": "Laptop"}
		w.WorkJobs(t, notice.Work(w.Engine, notice.Reads{Request: request.Get.Info(), Comment: request.GetComment.Info(), Task: execution.GetTask.Info()}))
		r.files(r.A.Member, 1, "a member")
		r.files(r.A.Agent, 0, "staff, without having asked for it")
		r.files(r.A.MemberKey, 0, "a program")
		r.files(r.A.OwnerKey, 0, "a program")

		choose := func(as apitest.Caller, who, code string) {
			t.Helper()
			got := r.ask(as, `mutation($in: UpdateCompanyInput!) { updateCompany(input: $in) { company { receipts } } }`, vars{"receipts": who})
			require.Equal(t, code, got.Text("errors.0.extensions.code"), "%s: %s", as.Name, got.Body)
			if code == "" {
				require.Equal(t, who, got.Text("data.updateCompany.company.receipts"))
			}
		}
		for _, as := range []apitest.Caller{r.A.Agent, r.A.Member, r.A.OwnerKey, r.A.TestKey} {
			choose(as, "everyone", "forbidden")
		}
		choose(r.A.Admin, "sometimes", "validation_error")
		choose(r.A.Admin, "everyone", "")
		r.files(r.A.Agent, 1, "everyone")
		r.files(r.A.AgentKey, 0, "a program still")
		choose(r.A.Owner, "none", "")
		r.files(r.A.Member, 0, "nobody")

		own := func(as apitest.Caller, channel, code string) {
			t.Helper()
			got := r.ask(as, `mutation($in: UpdateNotificationSettingsInput!) { updateNotificationSettings(input: $in) { kind channel } }`, vars{"kind": "receipt", "channel": channel})
			require.Equal(t, code, got.Text("errors.0.extensions.code"), "%s: %s", as.Name, got.Body)
		}
		own(r.A.Member, "digest", "validation_error")
		own(r.A.Member, "now", "")
		r.files(r.A.Member, 1, "her own choice")
		got := r.ask(r.A.Member, `query { viewer { notificationSettings { kind channel } company { receipts } } }`, nil)
		require.Contains(t, got.Get("data.viewer.notificationSettings"), vars{"kind": "receipt", "channel": "now"})
		require.Equal(t, "none", got.Text("data.viewer.company.receipts"))
	})
}
