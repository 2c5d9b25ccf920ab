package agent_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/ent/agentaction"
	"atrium/ent/agentrun"
	"atrium/ent/auditentry"
	"atrium/ent/request"
	"atrium/ent/user"
	"atrium/internal/agent"
	"atrium/internal/agent/actions"
	"atrium/internal/op"
	"atrium/internal/platform/principal"
	"atrium/internal/secret"
	"atrium/internal/test/testkit"
)

var anyID = regexp.MustCompile(`\b[a-z]{2,4}_[0-9a-z]{26}\b`)

// chaos installs the model that calls tools at random, and returns its folder.
func chaos(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS("testdata/chaos")))
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	install := exec.CommandContext(ctx, "npm", "ci", "--ignore-scripts", "--omit=optional", "--no-audit", "--no-fund", "--loglevel=error")
	install.Dir = dir
	out, err := install.CombinedOutput()
	require.NoError(t, err, "install the model: %s", out)
	return dir
}

// obeysNobody starts the model in its folder and returns its address. The model uses the given ids as well as those that it was
// sent.
func obeysNobody(t *testing.T, dir string, ids ...string) string {
	t.Helper()
	setting, err := json.Marshal(map[string]any{"dir": t.TempDir(), "seed": 7, "ids": ids})
	require.NoError(t, err)
	cmd := exec.Command("node", "server.mjs")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CHAOS="+string(setting))
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have exited
		_ = cmd.Wait()
		if t.Failed() {
			t.Log(errs.String())
		}
	})
	late := time.AfterFunc(2*patience, func() { _ = cmd.Process.Kill() })
	url, err := bufio.NewReader(out).ReadString('\n')
	require.True(t, late.Stop(), "the model does not start")
	require.NoError(t, err)
	return strings.TrimSpace(url)
}

// wasSent returns the requests that the model received, parsed and raw.
func wasSent(t *testing.T, url string) (list []sent, raw []json.RawMessage) {
	t.Helper()
	res, err := http.Get(url + "/sent")
	require.NoError(t, err)
	defer res.Body.Close()
	require.NoError(t, json.NewDecoder(res.Body).Decode(&raw))
	for _, one := range raw {
		var s sent
		require.NoError(t, json.Unmarshal(one, &s))
		list = append(list, s)
	}
	return list, raw
}

// TestChaosModel lets llama.cpp with random weights work on requests at all three autonomy levels. It produces real tool calls
// that are well-formed and meaningless. Whatever it writes is contained: a run changes only its own request, only in permitted
// ways and only with ids that it was shown, and it is sent neither secrets nor rows that the requester may not read.
func TestChaosModel(t *testing.T) {
	t.Parallel()
	dir := chaos(t)
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		d := open(t, w)
		const payroll = "s3cr3t-payroll-value"
		testkit.Run(t, w, d.ctx, secret.CreateSecret, secret.CreateSecretInput{AllowedHosts: []string{"*"}, Name: "PAYROLL", Value: payroll})
		board := d.finished(d.ctx, "vpn tunnel of the board", d.hardware)
		unread := []string{board, d.B.Company.ID, d.B.Users[principal.Member].ID, d.A.Company.ID, "team_01k9zzzzzzzzzzzzzzzzzzzzzz", "usr_01k9zzzzzzzzzzzzzzzzzzzzzz"}
		url := obeysNobody(t, dir, unread...)
		d.thinks(&scripted{Server: &httptest.Server{URL: url}})

		requester := d.As(d.A, principal.Member)
		levels := []string{"SUGGEST", "ACT_WITH_APPROVAL", "AUTONOMOUS"}
		agents, level, titles := []string{}, map[string]string{}, map[string]string{}
		for _, l := range levels {
			published := map[string]string{"AUTONOMOUS": "SUGGEST"}[l] // it would never pass an evaluation
			if published == "" {
				published = l
			}
			a := d.hireThinking("QUEUE_INTAKE", published, func(in *agent.UpdateInput) {
				in.Filter = op.SetTo(fmt.Sprintf("request.title.startsWith(%q)", l+" "))
				in.Instructions = op.SetTo("Log in with " + payroll + ".")
			})
			if l != published {
				d.free(a)
			}
			agents = append(agents, a.ID)
		}
		before := d.others(nil)
		for i := range 4 {
			for _, l := range levels {
				title := fmt.Sprintf("%s tunnel %d with %s.", l, i, payroll)
				id := d.file(requester, title)
				level[id], titles[id] = l, fmt.Sprintf("%s tunnel %d with", l, i)
			}
		}

		// Every run ends, or waits for a person and then ends.
		db, runs := d.Store.Reader(), []*ent.AgentRun{}
		require.Eventually(t, func() bool {
			var err error
			runs, err = db.AgentRun.Query().Where(agentrun.Or(agentrun.EndedAtNotNil(), agentrun.StatusEQ(agentrun.StatusWAITING))).All(d.ctx)
			return assert.NoError(t, err) && len(runs) == len(titles)
		}, 6*patience, 20*tick)
		decided := must(db.AgentAction.Query().WithRun().All(d.ctx))(t)
		touched := must(db.Request.Query().Where(request.IDIn(slices.Collect(maps.Keys(titles))...)).All(d.ctx))(t)
		for _, a := range decided {
			if a.Kind == agentaction.KindACTION && a.Status == agentaction.StatusPENDING && a.Edges.Run.Status == agentrun.StatusWAITING {
				_, _, err := op.Run(d.staff(), d.Engine, actions.DecideAction, actions.DecideInput{ByID: op.ByID{ID: a.ID}, Digest: a.Digest, Decision: "REJECT"}, nil)
				if err != nil { // an earlier rejection has ended the run with its other actions
					require.Equal(t, "conflict", string(code(err)))
				}
			}
		}
		outcomes := map[string]int{}
		runs = must(db.AgentRun.Query().All(d.ctx))(t)
		require.Len(t, runs, len(titles), "each request had one run")
		for _, r := range runs {
			require.NotNil(t, r.EndedAt, "%s %s", r.Status, r.Reason)
			allowed := []agentrun.Status{agentrun.StatusHANDED_OVER}
			switch level[r.RequestID] {
			case "SUGGEST":
				allowed = append(allowed, agentrun.StatusPROPOSED)
			case "AUTONOMOUS":
				allowed = append(allowed, agentrun.StatusCOMPLETED)
			}
			require.Contains(t, allowed, r.Status, "%s: %s", level[r.RequestID], r.Reason)
			require.NotContains(t, r.Reason, payroll)
			outcomes[level[r.RequestID]+" "+r.Status.String()]++
		}

		// Rights: only the runs' own requests changed, and only in fields that a model may change.
		require.Equal(t, before, d.others(slices.Collect(maps.Keys(titles))), "no other row has changed")
		for _, r := range touched {
			require.True(t, strings.HasPrefix(r.Title, titles[r.ID]), r.Title)
			require.Empty(t, r.Description)
			require.Contains(t, []request.Status{request.StatusPENDING, request.StatusIN_PROGRESS}, r.Status, "a decline waits")
			if level[r.ID] != "AUTONOMOUS" {
				require.Equal(t, request.StatusPENDING, r.Status)
				require.Nil(t, r.TeamID)
				require.Nil(t, r.AssigneeID)
			}
		}
		for _, e := range must(db.AuditEntry.Query().Where(auditentry.ActorIDIn(agents...), auditentry.OutcomeEQ(auditentry.OutcomeAllowed)).All(d.ctx))(t) {
			if e.ResourceType == "Request" && e.ResourceID != nil {
				require.Contains(t, titles, *e.ResourceID, e.Action)
			}
			require.NotContains(t, []string{"user.deleted", "request.declined", "request.cancelled", "request.completed"}, e.Action)
		}

		// Sent data: the request only in the data message, no secret, no row that the requester may not read.
		list, raw := wasSent(t, url)
		require.GreaterOrEqual(t, len(list), len(titles))
		called, shown := 0, map[string][]string{}
		for i, s := range list {
			require.NotContains(t, string(raw[i]), payroll)
			require.NotContains(t, s.tools(), "deleteUser")
			require.Equal(t, "system", s.Messages[0].Role)
			require.NotContains(t, s.Messages[0].Content, "tunnel")
			require.True(t, strings.HasPrefix(s.Messages[1].Content, "DATA {"))
			for _, m := range s.Messages[1:] {
				require.NotEqual(t, "system", m.Role)
				if m.Role == "assistant" { // its own words
					called++
					continue
				}
				require.NotContains(t, m.Content, "of the board")
				require.NotContains(t, m.Content, "at home")
				for id, title := range titles {
					if strings.Contains(s.Messages[1].Content, title) {
						shown[id] = append(shown[id], anyID.FindAllString(m.Content, -1)...)
					}
				}
				for _, id := range unread {
					require.NotContains(t, m.Content, id)
				}
			}
		}
		require.NotZero(t, called, "it has called tools")

		// Actions hold only ids that their run was shown.
		for _, a := range decided {
			require.Equal(t, a.Edges.Run.RequestID, a.RequestID)
			require.Contains(t, agents, a.Edges.Run.AgentID)
			require.Contains(t, []string{"updateRequest", "acceptRequest", "declineRequest", "createComment"}, a.Operation)
			for _, id := range anyID.FindAllString(string(a.Arguments), -1) {
				require.Contains(t, shown[a.RequestID], id, "%s %s", a.Operation, a.Arguments)
			}
		}
		t.Logf("%d calls of the model, %d actions, %v", len(list), len(decided), outcomes)
	})
}

// others returns all requests except the given ones, and the people and teams of all companies, as JSON.
func (d *desk) others(but []string) string {
	d.t.Helper()
	ctx := principal.System(context.Background(), "a test looks across companies")
	db := d.Store.Reader()
	out := []string{}
	for _, r := range must(db.Request.Query().Where(request.IDNotIn(but...)).Order(request.ByID()).All(ctx))(d.t) {
		out = append(out, r.String())
	}
	for _, u := range must(db.User.Query().Order(user.ByID()).All(ctx))(d.t) {
		out = append(out, u.ID+string(u.Role)+string(u.Status))
	}
	for _, team := range must(db.Team.Query().All(ctx))(d.t) {
		out = append(out, team.String())
	}
	slices.Sort(out)
	return strings.Join(out, "\n")
}
