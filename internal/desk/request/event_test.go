package request_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/ent/event"
	"atrium/internal/desk/catalog"
	"atrium/internal/desk/request"
	"atrium/internal/op"
	"atrium/internal/platform/principal"
	"atrium/internal/test/testkit"
)

// Events tell of each change once: of a transition by its own event, of other fields by their names, of a comment by who reads it.
func TestEventsOfARequest(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, world *testkit.World) {
		w := newWatch(t, world)
		own, staff := w.As(w.A, principal.Member), w.As(w.A, principal.Agent)
		o := w.offer(catalog.SLA{})
		testkit.Run(t, w.World, w.owner, catalog.UpdateOffering, catalog.UpdateOfferingInput{ByID: op.ByID{ID: o.ID}, AskSatisfaction: op.SetTo(true)})
		r := w.file(own, o)
		w.patch(staff, r.ID, request.UpdateInput{Priority: op.SetTo("URGENT"), Tags: op.SetTo(map[string]string{"site": "berlin"})})
		w.patch(staff, r.ID, request.UpdateInput{Priority: op.SetTo("URGENT")})
		w.patch(staff, r.ID, request.UpdateInput{Status: op.SetTo("IN_PROGRESS"), Format: op.SetTo("markdown")})
		for _, visibility := range []string{"internal", "public"} {
			testkit.Run(t, w.World, staff, request.CreateComment, request.CreateCommentInput{ByID: op.ByID{ID: r.ID}, Body: "Soon.", Visibility: &visibility})
		}
		w.patch(staff, r.ID, request.UpdateInput{Status: op.SetTo("COMPLETED")})
		testkit.Run(t, w.World, own, request.Rate, request.RateInput{ByID: op.ByID{ID: r.ID}, Satisfaction: 5})

		rows, err := w.Store.Reader().Event.Query().Where(event.SubjectID(r.ID)).Order(event.ByID()).All(w.owner)
		require.NoError(t, err)
		require.ElementsMatch(t, []string{
			"request.created PENDING", "request.updated PENDING [priority tags]", "request.updated IN_PROGRESS [format]", "request.accepted IN_PROGRESS",
			"request.commented IN_PROGRESS internal", "request.commented IN_PROGRESS public", "request.completed COMPLETED", "request.rated COMPLETED 5",
		}, told(t, rows))
	})
}

// told returns what the events say.
func told(t *testing.T, rows []*ent.Event) (out []string) {
	t.Helper()
	for _, row := range rows {
		var payload struct {
			Data struct {
				Status       string   `json:"status"`
				Changes      []string `json:"changes"`
				Visibility   string   `json:"visibility"`
				Satisfaction int      `json:"satisfaction"`
			} `json:"data"`
		}
		require.NoError(t, json.Unmarshal(row.Payload, &payload))
		d := payload.Data
		said := row.Type + " " + d.Status
		switch {
		case d.Changes != nil:
			said += fmt.Sprint(" ", d.Changes)
		case d.Visibility != "":
			said += " " + d.Visibility
		case d.Satisfaction > 0:
			said += fmt.Sprint(" ", d.Satisfaction)
		}
		out = append(out, said)
	}
	return out
}
