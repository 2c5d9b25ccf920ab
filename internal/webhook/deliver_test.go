package webhook_test

import (
	"encoding/json"
	"net/http"
	"testing"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/require"

	"atrium/ent/webhookdelivery"
	"atrium/internal/test/testkit/receiver"
)

// A filed request is delivered once, as documented, signed, and is in the history.
func TestEventArrives(t *testing.T) {
	each(t, func(t *testing.T, o *office) {
		r := receiver.New(t, receiver.Status(http.StatusOK, "thanks"))
		s := o.subscribe(t, r.URL+"/hook?a=b")
		in := o.offering(t)
		filed := o.file(t, in)
		got := r.Await(t, 1)[0]
		d, attempts := o.await(t, outcome(webhookdelivery.OutcomeSUCCESS))

		require.Equal(t, http.MethodPost, got.Method)
		require.Equal(t, "/hook", got.Path)
		require.Equal(t, "application/json", got.Header.Get("Content-Type"))
		require.Equal(t, d.EventID, got.Header.Get("webhook-id"))
		verifier, err := standardwebhooks.NewWebhook(string(s.SigningSecret))
		require.NoError(t, err)
		require.NoError(t, verifier.Verify(got.Body, got.Header))
		event, err := o.Store.Reader().Event.Get(o.asOwner(), d.EventID)
		require.NoError(t, err)
		var sent struct {
			Timestamp string `json:"timestamp"`
		}
		require.NoError(t, json.Unmarshal(got.Body, &sent))
		require.Equal(t, event.CreatedAt.Format("2006-01-02T15:04:05.000Z"), sent.Timestamp)
		require.Equal(t, `{"event":"request.created","timestamp":"`+sent.Timestamp+`","sequence":1,"data":{"id":"`+filed.ID+`","serviceId":"`+in.ServiceID+
			`","title":"A laptop","status":"PENDING","priority":"MEDIUM","createdBy":"`+o.A.Owner.ID+
			`","number":1,"offeringId":"`+in.OfferingID+`","assigneeId":null,"teamId":null,"tags":{}}}`, string(got.Body))

		require.Len(t, attempts, 1)
		require.Equal(t, 200, *attempts[0].StatusCode)
		require.Equal(t, "thanks", *attempts[0].ResponseBody)
		require.Nil(t, attempts[0].Error)
		require.Zero(t, d.RetryCount)
		require.Nil(t, d.NextAttemptAt)
		require.Equal(t, s.ID, d.SubscriptionID)
	})
}
