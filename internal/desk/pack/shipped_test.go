package pack_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/ent/execution"
	"atrium/ent/offering"
	"atrium/internal/desk/pack"
	"atrium/internal/desk/request"
	"atrium/internal/op"
	"atrium/internal/people"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/ratelimit"
	"atrium/internal/secret"
	"atrium/internal/test/testkit"
	"atrium/internal/webhook/inbound"
	"atrium/internal/webhook/preset"
)

// Each pack that ships installs in each language, and the requests of its offerings come to an end: in English with the first answers that
// their forms and tasks allow, in German with the last ones.
func TestShippedPacksWork(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		listed := testkit.Run(t, w, owner(w), pack.List, pack.ListInput{Language: "en"})
		require.NotEmpty(t, listed.Rows)
		for _, p := range listed.Rows {
			for v, language := range map[variant]string{first: "en", last: "de"} {
				t.Run(p.Key+"/"+language, func(t *testing.T) {
					t.Parallel()
					world := testkit.SQLiteWorld
					if w.Store.Dialect() == "postgres" {
						world = testkit.PostgresWorld
					}
					d := open(t, world(t))
					d.install(pack.Input{Pack: &p.Key, Language: &language})
					for _, o := range d.offerings() {
						d.complete(o, v)
					}
				})
			}
		}
	})
}

// install installs a pack, and makes staff the members of its teams.
func (d *desk) install(in pack.Input) {
	d.t.Helper()
	made, err := install(d.World, d.ctx, in)
	require.NoError(d.t, err)
	var staff []string
	for _, role := range []principal.Role{principal.Owner, principal.Admin, principal.Agent} {
		staff = append(staff, d.A.Users[role].ID)
	}
	for _, it := range made.Items {
		require.Equal(d.t, pack.Make, it.Action, it.Key)
		if it.Kind == "Team" {
			testkit.Run(d.t, d.World, d.ctx, people.UpdateTeam, people.UpdateTeamInput{ByID: op.ByID{ID: *it.ID}, MemberIDs: op.SetTo(staff)})
		}
	}
	after := rows(d.t, d.World, d.ctx)
	again, err := install(d.World, d.ctx, in)
	require.NoError(d.t, err)
	for _, it := range again.Items {
		require.Equal(d.t, pack.Keep, it.Action, it.Key)
	}
	require.Equal(d.t, after, rows(d.t, d.World, d.ctx), "a repeat makes nothing")
}

func (d *desk) offerings() []*ent.Offering {
	d.t.Helper()
	all, err := d.Store.Reader().Offering.Query().Order(offering.BySlug()).All(d.ctx)
	require.NoError(d.t, err)
	require.NotEmpty(d.t, all)
	return all
}

// complete files a request and brings it to its end.
func (d *desk) complete(o *ent.Offering, v variant) {
	d.t.Helper()
	name := fmt.Sprintf("%s, answers %d", o.Slug, v)
	in := request.CreateInput{ServiceID: o.ServiceID, OfferingID: o.ID, Title: "About " + o.Slug}
	if o.Form != nil {
		in.Fields = d.answers(d.member, *o.Form, v)
	}
	r, _, err := op.Run(d.member, d.Engine, request.Create, in, nil)
	require.NoError(d.t, err, "%s: %v: %s", name, in.Fields, said(err))
	if r.ExecutionID == nil {
		require.Nil(d.t, o.WorkflowID, name)
		r = testkit.Run(d.t, d.World, d.ctx, request.Accept, op.ByID{ID: r.ID})
		r = testkit.Run(d.t, d.World, d.ctx, request.Update, request.UpdateInput{ByID: op.ByID{ID: r.ID}, Status: op.SetTo("COMPLETED")})
		require.Equal(d.t, "COMPLETED", string(r.Status), name)
		return
	}
	const most = 40
	d.rest = false
	for step := range most {
		e := d.settled(*r.ExecutionID, name)
		if e.Status == execution.StatusCOMPLETED {
			r, err = d.Store.Reader().Request.Get(d.ctx, r.ID)
			require.NoError(d.t, err)
			require.Contains(d.t, []string{"COMPLETED", "CANCELLED"}, string(r.Status), "%s: the request has ended with its execution", name)
			return
		}
		if step == most/2 {
			v = last - v // enough of the same again and again
			d.rest = true
		}
		d.work(e, v, name)
	}
	require.Fail(d.t, "the request does not end", "%s after %d steps", name, most)
}

// work does what an execution waits for: its open tasks, its approvals, or time.
func (d *desk) work(e *ent.Execution, v variant, name string) {
	d.t.Helper()
	if d.tasks(e, v, name)+d.approvals(e, name) == 0 {
		d.wait(e, name)
	}
}

func (d *desk) as(userID string) context.Context {
	d.t.Helper()
	u, err := d.Store.Reader().User.Get(d.ctx, userID)
	require.NoError(d.t, err)
	return d.AsUser(u)
}

// A page of PagerDuty opens an incident once the webhook of the pack knows the sender's secret: its answers are those of the form, in the
// language of the company.
func TestPagesOpenIncidents(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		d := open(t, w)
		d.install(pack.Input{Pack: new("incident-response"), Language: new("de")})
		hook, err := w.Store.Reader().InboundWebhook.Query().Only(d.ctx)
		require.NoError(t, err)
		const key = "the secret of PagerDuty"
		testkit.Run(t, w, d.ctx, inbound.RotateSecret, inbound.RotateSecretInput{ByID: op.ByID{ID: hook.ID}, SigningSecret: new(secret.Value(key))})
		door, err := inbound.NewDoor(w.Engine, ratelimit.NewMemory(), nil, slog.New(slog.DiscardHandler))
		require.NoError(t, err)
		sample := preset.Of("pagerduty").Sample
		mac := hmac.New(sha256.New, []byte(key))
		mac.Write(sample.Body)
		out, err := door.Take(context.Background(), inbound.Call{WebhookID: hook.ID, Body: sample.Body, Header: http.Header{
			"Content-Type": {"application/json"}, "X-Pagerduty-Signature": {"v1=" + hex.EncodeToString(mac.Sum(nil))},
		}})
		require.NoError(t, err)
		started, ok := out.(inbound.Accepted)
		require.True(t, ok, "%T", out)
		e := d.settled(started.ExecutionID, "a page")
		require.NotNil(t, e.RequestID)
		r, err := w.Store.Reader().Request.Get(d.ctx, *e.RequestID)
		require.NoError(t, err)
		require.Equal(t, []string{"Checkout answers with errors", "URGENT"}, []string{r.Title, string(r.Priority)})
		require.JSONEq(t, `{"severity":"Kritisch","system":"Checkout","happens":"Checkout answers with errors","since":"2026-11-30T08:00:00Z"}`, string(r.Fields))
	})
}
