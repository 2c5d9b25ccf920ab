//go:build faults

package main_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/internal/test/testkit/receiver"
)

// traffic simulates a company at work: people file requests, read, change and comment on them and complete the first task of
// their workflows, an admin creates and deletes access policies, and, where calls are repeated, somebody signs in again and again. Each
// call goes to a node that reports to be ready, as a load balancer would send it.
type traffic struct {
	t      *testing.T
	first  firstRun
	c      *http.Client
	owner  string // an access token
	repeat bool   // calls without an answer, or with 5xx, are repeated with the same idempotency key
	sink   *receiver.Receiver
	hook   string // id of the sink's subscription
	app    string // id of the OAuth client that people sign in for

	mu       sync.Mutex
	nodes    []*node
	ready    []string       // addresses of the nodes that are ready
	kept     []string       // ids of requests whose create was answered with 201
	signIns  int            // that gave a token which was accepted
	comments []string       // bodies of comments that were answered with 201
	failed   []string       // calls with an unexpected answer
	again    map[string]int // repeated calls, counted by their error

	turn    atomic.Int64
	ending  chan struct{}
	callers sync.WaitGroup
	watch   sync.WaitGroup
}

// startTraffic starts callers on the nodes.
func startTraffic(t *testing.T, callers int, repeat bool, nodes ...*node) *traffic {
	t.Helper()
	n := nodes[0]
	tr := &traffic{t: t, first: n.firstRun(), c: n.client(), repeat: repeat, nodes: nodes, ending: make(chan struct{}), again: map[string]int{}, sink: receiver.New(t, nil)}
	tr.c.Timeout = 30 * time.Second
	n.ok("company", "limits", "--company", tr.first.Company.ID, "--per-minute", "1000000", "--per-day", "100000000")
	tr.owner = n.object("token", "create", "--company", tr.first.Company.ID, "--user", tr.first.Owner.Email, "--ttl", "12h")["accessToken"].(string)
	made := n.graphQL(tr.owner, `mutation($in: CreateWebhookSubscriptionInput!) { createWebhookSubscription(input: $in) { webhookSubscription { id } } }`,
		map[string]any{"in": map[string]any{"url": tr.sink.URL, "events": []string{"request.created"}}})
	tr.hook = made["createWebhookSubscription"].(map[string]any)["webhookSubscription"].(map[string]any)["id"].(string)
	tr.app = n.application(tr.first.Company.ID, "http://127.0.0.1/callback")["clientId"].(string)
	tr.look()
	tr.watch.Go(func() {
		for {
			select {
			case <-tr.ending:
				return
			case <-time.After(50 * time.Millisecond):
				tr.look()
			}
		}
	})
	for i := range callers {
		tr.callers.Go(func() {
			for n := 0; !tr.ended(); n++ {
				tr.work(fmt.Sprintf("request %d of caller %d", n, i))
			}
		})
	}
	tr.callers.Go(func() {
		for n := 0; !tr.ended(); n++ {
			tr.administer(n)
		}
	})
	if repeat {
		tr.callers.Go(func() {
			for !tr.ended() {
				tr.signIn()
			}
		})
	}
	return tr
}

func (tr *traffic) ended() bool {
	select {
	case <-tr.ending:
		return true
	default:
		return false
	}
}

// use sends the traffic to these nodes.
func (tr *traffic) use(nodes ...*node) {
	tr.mu.Lock()
	tr.nodes = nodes
	tr.mu.Unlock()
	tr.look()
}

// look checks which nodes are ready.
func (tr *traffic) look() {
	tr.mu.Lock()
	nodes := slices.Clone(tr.nodes)
	tr.mu.Unlock()
	probe := &http.Client{Timeout: 500 * time.Millisecond}
	defer probe.CloseIdleConnections()
	var ready []string
	for _, n := range nodes {
		if a, err := send(probe, "GET", n.admin+"/readyz", "", ""); err == nil && a.status == 200 {
			ready = append(ready, n.base)
		}
	}
	tr.mu.Lock()
	tr.ready = ready
	tr.mu.Unlock()
}

// call makes one call, which must be answered with one of the statuses. It returns false otherwise.
func (tr *traffic) call(method, path, credential, body, key string, statuses ...int) (answer, bool) {
	var header []string
	if method != "GET" {
		header = []string{"Idempotency-Key", key}
	}
	for began := time.Now(); ; {
		tr.mu.Lock()
		ready := tr.ready
		tr.mu.Unlock()
		said := "no node is ready"
		if len(ready) > 0 {
			a, err := send(tr.c, method, ready[int(tr.turn.Add(1))%len(ready)]+path, credential, body, header...)
			broken := err != nil || a.status >= 500 || strings.Contains(a.body, `"code":"unavailable"`) || strings.Contains(a.body, `"code":"internal_error"`)
			if !broken && slices.Contains(statuses, a.status) {
				return a, true
			}
			said = fmt.Sprint(method, " ", path, ": ", a.status, " ", a.body, " ", err)
			if !broken {
				tr.note(said, false)
				return a, false
			}
		}
		again := tr.repeat && time.Since(began) < 2*patience
		tr.note(said, again)
		if !again {
			return answer{}, false
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// digits matches what differs between two answers of the same kind.
var digits = regexp.MustCompile(`(rid|req|task|pol)_[0-9a-z]+|127.0.0.1:[0-9]+`)

// note records a failed call.
func (tr *traffic) note(said string, again bool) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	if again {
		said = digits.ReplaceAllString(said, "…")
		tr.again[said[:min(len(said), 80)]]++
	} else if len(tr.failed) < 10 {
		tr.failed = append(tr.failed, said)
	}
}

// work files a request with a unique title and works on it.
func (tr *traffic) work(title string) {
	body := tr.first.laptop(title)
	a, ok := tr.call("POST", "/v1/requests", tr.first.LiveKey, body, title, 201)
	if !ok {
		return
	}
	var made struct{ Data struct{ ID string } }
	_ = json.Unmarshal([]byte(a.body), &made) // requireBalanced checks the id
	tr.mu.Lock()
	tr.kept = append(tr.kept, made.Data.ID)
	tr.mu.Unlock()
	at := "/v1/requests/" + made.Data.ID
	tr.call("GET", at, tr.first.LiveKey, "", "", 200)
	tr.call("PATCH", at, tr.first.LiveKey, `{"priority":"HIGH"}`, title+" raised", 200)
	if _, ok := tr.call("POST", at+"/comments", tr.first.LiveKey, fmt.Sprintf(`{"body":%q}`, title), title+" commented", 201); ok {
		tr.mu.Lock()
		tr.comments = append(tr.comments, title)
		tr.mu.Unlock()
	}
	tr.call("GET", "/v1/requests?pageSize=20&status=PENDING,IN_PROGRESS", tr.first.LiveKey, "", "", 200)
	tasks, ok := tr.call("GET", "/v1/tasks?status=OPEN&requestId="+made.Data.ID, tr.first.LiveKey, "", "", 200)
	var found struct{ Data []struct{ ID string } }
	if ok && json.Unmarshal([]byte(tasks.body), &found) == nil && len(found.Data) > 0 {
		tr.call("POST", "/v1/tasks/"+found.Data[0].ID+"/complete", tr.first.LiveKey, `{"outcome":"next"}`, title+" done", 200)
	}
}

// administer creates an access policy that affects none of the callers, and deletes it.
func (tr *traffic) administer(n int) {
	name := fmt.Sprintf("policy %d", n)
	a, ok := tr.call("POST", "/graphql", tr.owner, encode(tr.t, map[string]any{
		"query": `mutation($in: CreateAccessPolicyInput!) { createAccessPolicy(input: $in) { accessPolicy { id } } }`,
		"variables": map[string]any{"in": map[string]any{"name": name, "effect": "Deny", "action": "delete", "resource": "Service",
			"condition": map[string]any{"principal.role": "member"}}},
	}), name, 200)
	if !ok {
		return
	}
	_, id, found := strings.Cut(a.body, `"id":"`)
	if !found {
		tr.note(a.body, false)
		return
	}
	id, _, _ = strings.Cut(id, `"`)
	tr.call("POST", "/graphql", tr.owner, encode(tr.t, map[string]any{
		"query":     `mutation($in: DeleteAccessPolicyInput!) { deleteAccessPolicy(input: $in) { id } }`,
		"variables": map[string]any{"in": map[string]any{"id": id}},
	}), name+" goes", 200)
	time.Sleep(200 * time.Millisecond)
}

// signIn signs the owner in by the pages and uses the token. Whatever name the pages have in redirects, each of its calls goes to a
// ready node. A sign-in that a fault interrupts is begun anew, as people do; the codes and forms of the first are used up.
func (tr *traffic) signIn() {
	time.Sleep(500 * time.Millisecond) // below the limit of anonymous calls
	transport := tr.c.Transport.(*http.Transport).Clone()
	transport.DisableKeepAlives = true
	transport.DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
		tr.mu.Lock()
		ready := tr.ready
		tr.mu.Unlock()
		if len(ready) == 0 {
			return nil, errors.New("no node is ready")
		}
		to := ready[int(tr.turn.Add(1))%len(ready)]
		return (&net.Dialer{}).DialContext(ctx, network, strings.TrimPrefix(to, "https://"))
	}
	c := &http.Client{Transport: transport, Timeout: tr.c.Timeout}
	browse(tr.t, c)
	access, _, err := signIn(context.Background(), c, tr.first.AuthURL, tr.app, tr.first.Owner.Email, tr.first.Owner.Password)
	if err != nil {
		tr.note("sign in: "+err.Error(), true)
		return
	}
	if _, ok := tr.call("GET", "/v1/requests?pageSize=1", access, "", "", 200); ok {
		tr.mu.Lock()
		tr.signIns++
		tr.mu.Unlock()
	}
}

// answered waits until that many more requests have been filed.
func (tr *traffic) answered(more int) {
	tr.t.Helper()
	count := func() int {
		tr.mu.Lock()
		defer tr.mu.Unlock()
		return len(tr.kept)
	}
	from := count()
	require.Eventually(tr.t, func() bool { return count() >= from+more }, 2*patience, 20*time.Millisecond, "nothing is answered any more: %v", tr.failed)
}

// end stops the callers after their current calls.
func (tr *traffic) end() {
	close(tr.ending)
	tr.callers.Wait()
	tr.watch.Wait()
}

// requireBalanced compares the database with what was answered, once the background work is done. Nothing is lost or duplicated,
// each change has one event and one audit entry, all events are delivered, every workflow waits at its human task, and the audit
// log verifies.
func (tr *traffic) requireBalanced(p place) {
	t, company := tr.t, tr.first.Company.ID
	t.Helper()
	requireWhole(t, p, company, tr.kept)
	of := " WHERE company_id = '" + company + "'"
	require.Empty(t, column(t, p, "SELECT title FROM requests"+of+" AND title LIKE 'request %' GROUP BY title HAVING count(*) > 1"), "filed twice")
	require.Empty(t, column(t, p, "SELECT body FROM comments"+of+" GROUP BY body HAVING count(*) > 1"), "commented twice")
	require.Subset(t, column(t, p, "SELECT body FROM comments"+of), tr.comments, "an answered comment is lost")
	require.Empty(t, column(t, p, "SELECT name FROM access_policies"+of+" AND name LIKE 'policy %' GROUP BY name HAVING count(*) > 1"), "made twice")

	require.Eventually(t, func() bool { return countRows(t, p, "executions"+of+" AND status = 'RUNNING'") == 0 }, 2*patience, time.Second, "executions stand still")
	// A periodic job that comes again soon has one attempt: it may die with its node.
	require.Empty(t, column(t, p, "SELECT kind FROM river_job WHERE state = 'discarded' AND max_attempts > 1"), "jobs were given up")
	require.Empty(t, column(t, p, "SELECT r.id FROM requests r LEFT JOIN executions e ON e.request_id = r.id WHERE r.company_id = '"+company+
		"' AND r.title LIKE 'request %' AND e.id IS NULL"), "requests without their workflow")
	require.Empty(t, column(t, p, "SELECT execution_id || phase_id FROM tasks"+of+" GROUP BY execution_id, phase_id HAVING count(*) > 1"), "tasks twice")
	p.awaitDelivered(company, 2*patience)
	repeated := requireDelivered(t, p, company, tr.hook, tr.sink)
	if tr.repeat {
		require.Positive(t, tr.signIns)
		require.GreaterOrEqual(t, countRows(t, p, "audit_entries"+of+" AND action = 'session.created' AND outcome = 'allowed'"), tr.signIns, "a sign-in is not audited")
	}
	verified := p.object("audit", "verify", "--company", company)
	require.Equal(t, true, verified["intact"], "%v", verified)
	t.Logf("%d requests and %d comments answered, %d sign-ins, %d deliveries repeated; calls made again: %v", len(tr.kept), len(tr.comments), tr.signIns, repeated, tr.again)
}
