package events_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"atrium/authz"
	"atrium/internal/op/events"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestEvents(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{
		"request.created", "request.accepted", "request.completed", "request.cancelled", "request.reopened", "request.moved",
		"request.updated", "request.commented", "request.rated",
		"workflow.started", "workflow.completed", "workflow.failed", "task.assigned", "task.completed", "sla.warning", "sla.breached",
		"approval.requested", "approval.decided",
	}, events.Names())
	_, ok := events.Find("request.deleted")
	require.False(t, ok)
}

var at = time.Date(2027, 1, 15, 10, 0, 0, 123_456_789, time.FixedZone("", 3600))

func TestPayloadOfACreatedRequest(t *testing.T) {
	t.Parallel()
	payload, err := events.Payload(events.RequestCreated, at, events.Request{
		ID: "req_1", ServiceID: "svc_1", Title: `A "laptop" <b>`, Status: "PENDING", Priority: "HIGH", CreatedBy: "usr_1",
		Number: 7, OfferingID: "off_1", TeamID: new("team_1"), Tags: map[string]string{"site": "berlin"},
	})
	require.NoError(t, err)
	require.Equal(t, `{"event":"request.created","timestamp":"2027-01-15T09:00:00.123Z","data":{"id":"req_1","serviceId":"svc_1",`+
		`"title":"A \"laptop\" \u003cb\u003e","status":"PENDING","priority":"HIGH","createdBy":"usr_1","number":7,"offeringId":"off_1","assigneeId":null,"teamId":"team_1","tags":{"site":"berlin"}}}`, string(payload))
}

// Access policies decide about every event, by the resource that it is about.
func TestEventsAreAboutResources(t *testing.T) {
	t.Parallel()
	for _, k := range events.All {
		require.True(t, authz.HasRows(events.Resource(k.Name)), k.Name)
	}
	require.Empty(t, events.Resource("nothing.happened"))
}

// numbered returns a payload with the number 7.
func numbered(payload string) string {
	return strings.Replace(payload, `,"data":`, `,"sequence":7,"data":`, 1)
}

// Whatever a database makes of the order of keys, what is sent is what was written, with the event's number.
func TestCanonicalUndoesTheDatabase(t *testing.T) {
	t.Parallel()
	for _, k := range events.All {
		payload, err := events.Payload(k.Name, at, k.Example)
		require.NoError(t, err)
		var sorted any
		require.NoError(t, json.Unmarshal(payload, &sorted))
		kept, err := json.MarshalIndent(sorted, "", " ")
		require.NoError(t, err)
		back, err := events.Canonical(kept, 7)
		require.NoError(t, err)
		require.Equal(t, numbered(string(payload)), string(back))
	}
}

// Data that has more in it than its type knows, from an earlier version or of an event that is none of these, stays
// whole.
func TestCanonicalKeepsWhatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	for _, payload := range []string{
		`{"event":"request.created","timestamp":"2027-01-15T09:00:00.000Z","data":{"id":"req_1","more":[1.50,{"a":null}]}}`,
		`{"event":"service.created","timestamp":"2027-01-15T09:00:00.000Z","data":{"z":1,"a":12345678901234567890}}`,
		`{"event":"x","timestamp":"","data":null}`,
	} {
		out, err := events.Canonical([]byte(payload), 7)
		require.NoError(t, err)
		require.Equal(t, numbered(payload), string(out))
	}
	_, err := events.Canonical([]byte(`[]`), 7)
	require.Error(t, err)
}

func TestCanonicalIsStable(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		r := events.Request{
			ID: rapid.String().Draw(t, "id"), Title: rapid.String().Draw(t, "title"),
			Status: rapid.String().Draw(t, "status"), CreatedBy: rapid.String().Draw(t, "by"),
		}
		payload, err := events.Payload(events.RequestAccepted, at, r)
		require.NoError(t, err)
		once, err := events.Canonical(payload, 7)
		require.NoError(t, err)
		require.Equal(t, numbered(string(payload)), string(once))
	})
}

// Every field is there in every payload, null when it is not set: nobody has to ask twice.
func TestExamplesShowEveryField(t *testing.T) {
	t.Parallel()
	for _, k := range events.All {
		raw, err := json.Marshal(k.Example)
		require.NoError(t, err)
		var fields map[string]any
		require.NoError(t, json.Unmarshal(raw, &fields))
		require.Len(t, fields, shown(reflect.TypeOf(k.Example)), k.Name)
		require.NotEmpty(t, k.Meaning)
	}
}

// shown returns how many fields a type's JSON has.
func shown(t reflect.Type) (n int) {
	for _, f := range reflect.VisibleFields(t) {
		if !f.Anonymous {
			n++
		}
	}
	return n
}
