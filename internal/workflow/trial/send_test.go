package trial_test

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/ent/auditentry"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/strictjson"
	"atrium/internal/policy"
	"atrium/internal/secret"
	"atrium/internal/test/testkit"
	"atrium/internal/test/testkit/receiver"
	"atrium/internal/workflow/trial"
)

// canary is the value of a secret.
const canary = "k9-very-secret-value"

// caller is a workflow that asks for a price and then orders at a receiver, which it proves itself to by a secret.
type caller struct {
	*testkit.World
	owner context.Context
	there *receiver.Receiver
	flow  *ent.Workflow
}

func openCaller(t *testing.T, w *testkit.World, handler http.Handler) *caller {
	t.Helper()
	w.Engine.Egress = receiver.Client(t, 0)
	c := &caller{World: w, owner: w.As(w.A, principal.Owner), there: receiver.New(t, handler)}
	testkit.Run(t, w, c.owner, secret.CreateSecret, secret.CreateSecretInput{Name: "TOKEN", Value: canary, AllowedHosts: []string{"127.0.0.1"}})
	c.flow = save(t, w, c.owner, line([]body{
		phase("start", "START", nil),
		phase("price", "PROCESS", body{"form": body{"fields": []body{{"key": "cents", "label": "Price", "type": "number", "required": true}}}}),
		phase("order", "API_CALL", body{
			"method": "POST", "url": c.there.URL + "/orders/${request.fields.item}", "headers": body{"Authorization": "Bearer ${secrets.TOKEN}"},
			"body": body{"cents": "${phases.price.cents}"}, "response": body{"number": "response.body.number"},
		}),
		phase("end", "END", nil),
	}))
	return c
}

// in names the call of the phase order, with the sample of a request and the answer to what comes before.
func (c *caller) in(t *testing.T) trial.SendInput {
	t.Helper()
	return trial.SendInput{ByID: op.ByID{ID: c.flow.ID}, PhaseID: "order", On: trial.On{
		Fields: object(t, body{"item": "chair 7"}), Answers: object(t, body{"price": body{"variables": body{"cents": 90000}}}),
	}}
}

// A call is made once, as the workflow would make it: with what earlier phases have brought and the real secret, which neither the answer
// nor the audit entry tells. Nothing else is kept. What came back is an answer that a trial takes.
func TestSendOnce(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		c := openCaller(t, w, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusCreated)
			_, _ = w.Write([]byte(`{"number": 10.10, "you": "` + r.Header.Get("Authorization") + `"}`))
		}))
		out := testkit.Run(t, w, c.owner, trial.Send, c.in(t))
		got := c.there.Got()
		require.Len(t, got, 1)
		require.Equal(t, []string{"POST", "/orders/chair 7", "Bearer " + canary, `{"cents":90000}`},
			[]string{got[0].Method, got[0].Path, got[0].Header.Get("Authorization"), string(got[0].Body)})
		require.JSONEq(t, `{"method": "POST", "url": "`+c.there.URL+`/orders/chair%207", "headers": {"Authorization": "Bearer ***"}, "body": {"cents": 90000}}`, string(out.Sent))
		var answer strictjson.Object
		require.NoError(t, json.Unmarshal(out.Answer, &answer))
		require.Equal(t, json.Number("201"), answer["status"])
		require.Contains(t, string(out.Answer), `"number":10.10`, "digits stay")
		require.Contains(t, string(out.Answer), `"you":"Bearer ***"`)

		entries, err := w.Store.Reader().AuditEntry.Query().Where(auditentry.Action("workflow.call_sent")).All(c.owner)
		require.NoError(t, err)
		require.Len(t, entries, 1)
		require.Equal(t, c.flow.ID, *entries[0].ResourceID)
		require.NotContains(t, string(entries[0].Changes), canary)
		token, err := w.Store.Reader().Secret.Query().Only(c.owner)
		require.NoError(t, err)
		require.NotNil(t, token.LastUsedAt)

		tried := c.in(t)
		tried.Answers["order"] = map[string]any(answer)
		r := testkit.Run(t, w, c.owner, trial.Try, trial.Input{ID: &c.flow.ID, On: tried.On})
		require.Equal(t, []string{"start next", "price next", "order next", "end"}, path(r))
		require.JSONEq(t, `{"status": 201, "number": 10.10}`, string(step(t, r, "order").Output))

		testkit.Run(t, w, c.owner, trial.Send, c.in(t))
		got = c.there.Got()
		require.Len(t, got, 2)
		require.NotEqual(t, got[0].Header.Get("Idempotency-Key"), got[1].Header.Get("Idempotency-Key"), "a receiver takes the second for another one")
	})
}

// Nothing is sent for whoever may not change the workflow or has not signed in recently, nor where the trial does not come to the call.
func TestWhatIsNotSent(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		c := openCaller(t, w, nil)
		refused := func(ctx context.Context, in trial.SendInput) *apperr.Error {
			t.Helper()
			_, _, err := op.Run(ctx, w.Engine, trial.Send, in, nil)
			require.Error(t, err)
			require.Empty(t, c.there.Got())
			return apperr.From(err)
		}
		in := c.in(t)
		require.Equal(t, apperr.Forbidden, refused(w.As(w.A, principal.Agent), in).Code)
		require.Equal(t, apperr.Forbidden, refused(with(w, "workflows:write", "secrets:write"), in).Code, "keys are no people")
		require.Equal(t, apperr.NotFound, refused(w.As(w.B, principal.Owner), in).Code)
		p, _ := principal.From(c.owner)
		stale := *p
		stale.AuthenticatedAt = w.Store.Clock().Now().Add(-op.FreshFor - time.Minute)
		require.Equal(t, op.ReasonStale, refused(principal.With(context.Background(), &stale), in).Reason)
		condition := policy.NewCondition([]byte(`{"principal.role": "admin"}`))
		testkit.Run(t, w, c.owner, policy.Create, policy.CreateInput{Name: "Fixed", Effect: "Deny", Action: "update", Resource: "Workflow", Condition: &condition})
		require.Equal(t, apperr.Forbidden, refused(w.As(w.A, principal.Admin), in).Code)

		unanswered := in
		unanswered.Answers = nil
		require.Equal(t, map[string]string{"answers.price": "Is required: the workflow asks for it before this call."}, faults(t, refused(c.owner, unanswered)))
		for _, id := range []string{"price", "nowhere"} {
			other := in
			other.PhaseID = id
			require.Equal(t, []string{"phaseId"}, fields(faults(t, refused(c.owner, other))))
		}
		elsewhere := in
		elsewhere.Definition = setTo(t, between(phase("order", "API_CALL", body{"method": "GET", "url": "https://${request.fields.item}.example/", "headers": body{"X": "${secrets.TOKEN}"}}), "next"))
		elsewhere.Fields, elsewhere.Answers = object(t, body{"item": "shop"}), nil
		require.Equal(t, "The secret TOKEN may not be sent to shop.example, which its allowed hosts do not name.", refused(c.owner, elsewhere).Message)
	})
}

// A repeated call with its idempotency key sends nothing again and gives the first answer.
func TestARepeatedCallIsSentOnce(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		c := openCaller(t, w, nil)
		call := &op.Call{IdempotencyKey: "once", Render: func(out any) (op.Answer, error) {
			return op.Answer{Status: http.StatusOK, Body: out.(*trial.Sent).Answer}, nil
		}}
		var said []string
		for range 2 {
			_, answer, err := op.Run(c.owner, w.Engine, trial.Send, c.in(t), call)
			require.NoError(t, err)
			said = append(said, string(answer.Body))
		}
		require.Equal(t, said[0], said[1])
		require.Len(t, c.there.Got(), 1)
	})
}

// What does not answer is a failure that a trial takes as well.
func TestCallsThatAreNotAnswered(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		c := openCaller(t, w, receiver.Hang())
		in := c.in(t)
		in.Definition = setTo(t, between(phase("order", "API_CALL", body{"method": "GET", "url": c.there.URL, "timeoutSeconds": 1}), "next"))
		in.Answers = nil
		out := testkit.Run(t, w, c.owner, trial.Send, in)
		require.JSONEq(t, `{"failure": "The call failed: timeout: no complete answer within the time limit."}`, string(out.Answer))
	})
}

// Two calls of a company that wait leave no place for a third.
func TestPlacesOfCalls(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		release := make(chan struct{})
		c := openCaller(t, w, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			<-release
			w.WriteHeader(http.StatusNoContent)
		}))
		in := c.in(t)
		done := make(chan error)
		for range 2 {
			go func() {
				_, _, err := op.Run(c.owner, w.Engine, trial.Send, in, nil)
				done <- err
			}()
		}
		c.there.Await(t, 2)
		_, _, err := op.Run(c.owner, w.Engine, trial.Send, in, nil)
		close(release)
		require.Equal(t, apperr.Conflict, apperr.CodeOf(err))
		for range 2 {
			require.NoError(t, <-done)
		}
	})
}
