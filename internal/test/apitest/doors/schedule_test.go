package doors

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/internal/test/apitest"
)

// REST and GraphQL compute the same times with the same faults, show the same schedules, and run them alike.
func TestSchedules(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		as := s.A.OwnerKey
		ask := func(query string, in vars) *apitest.Answer {
			t.Helper()
			return s.Send(t, apitest.Scenario{As: as, Method: http.MethodPost, Path: "/graphql", Body: vars{"query": query, "variables": in}})
		}
		post := func(path string, in vars) *apitest.Answer {
			t.Helper()
			call := apitest.Scenario{As: as, Method: http.MethodPost, Path: "/v1" + path}
			if in != nil {
				call.Body = in
			}
			return s.Send(t, call)
		}
		for name, c := range map[string]struct {
			in     vars
			faulty bool
		}{
			"cron":    {vars{"cron": "0 9 * * MON", "timeZone": "Europe/Berlin"}, false},
			"every":   {vars{"every": vars{"unit": "MONTH", "at": "09:00", "day": 31}, "timeZone": "UTC", "onClosed": "NEXT_WORKING_DAY"}, false},
			"nothing": {vars{"timeZone": "UTC"}, true},
			"wrong":   {vars{"every": vars{"unit": "WEEK", "at": "09:00"}, "timeZone": "Mars/Base"}, true},
			"often":   {vars{"cron": "* * * * *", "timeZone": "UTC", "calendarId": "cal_0"}, true},
			"no time": {vars{"every": vars{"unit": "DAY", "at": "9"}, "timeZone": "UTC"}, true},
		} {
			r := post("/schedules/times", c.in)
			g := ask(`query($cron: String, $every: ScheduleEveryInput, $timeZone: String!, $calendarId: ID, $onClosed: ScheduleOnClosed) {
				scheduleTimes(cron: $cron, every: $every, timeZone: $timeZone, calendarId: $calendarId, onClosed: $onClosed) }`, c.in)
			if c.faulty {
				require.Equal(t, "validation_error", r.Text("error"), "%s: %s", name, r.Body)
				require.Equal(t, rowsOf(r, "details"), rowsOf(g, "errors.0.extensions.details"), "%s: %s", name, g.Body)
				continue
			}
			require.Len(t, r.Get("data.times"), 10, "%s: %s", name, r.Body)
			require.Equal(t, r.Get("data.times"), g.Get("data.scheduleTimes"), name)
		}
		flow := post("/workflows", vars{"name": "Check", "definition": vars{
			"phases": []vars{{"id": "s", "type": "START"}, {"id": "e", "type": "END"}}, "transitions": []vars{{"from": "s", "name": "next", "to": "e"}},
		}}).ID()
		post("/workflows/"+flow+"/publish", nil)
		made := ask(`mutation($in: CreateScheduleInput!) { createSchedule(input: $in) { schedule { id etag workflow { id } offering { id } every { unit weekdays } } } }`,
			vars{"in": vars{"name": "Weekly", "workflowId": flow, "every": vars{"unit": "WEEK", "at": "09:00", "weekdays": []string{"mon"}}, "timeZone": "UTC"}})
		id := made.Text("data.createSchedule.schedule.id")
		require.NotEmpty(t, id, made.Body)
		require.Equal(t, flow, made.Text("data.createSchedule.schedule.workflow.id"))
		one := s.Do(t, apitest.Scenario{As: as, Path: "/v1/schedules/" + id})
		require.Equal(t, "WEEK", one.Text("data.every.unit"))
		ran := post("/schedules/"+id+"/run", nil)
		require.Equal(t, "STARTED", ran.Text("data.status"), ran.Body)
		again := ask(`mutation($id: ID!) { runSchedule(input: {id: $id}) { scheduleRun { status executionId } } }`, vars{"id": id})
		require.Equal(t, "STARTED", again.Text("data.runSchedule.scheduleRun.status"), again.Body)
		runs := ask(`query($id: ID!) { scheduleRuns(scheduleId: $id) { totalCount edges { node { id status executionId } } } schedules(filter: {enabled: true, workflowId: ["`+flow+`"], q: "week"}) { totalCount } }`, vars{"id": id})
		require.EqualValues(t, 2, runs.Get("data.scheduleRuns.totalCount"), runs.Body)
		require.EqualValues(t, 1, runs.Get("data.schedules.totalCount"), runs.Body)
		changed := ask(`mutation($in: UpdateScheduleInput!) { updateSchedule(input: $in) { schedule { cron every { unit } nextRunAt } } }`, vars{"in": vars{"id": id, "cron": "0 9 * * *", "enabled": false}})
		require.Equal(t, "0 9 * * *", changed.Text("data.updateSchedule.schedule.cron"), changed.Body)
		require.Equal(t, http.StatusConflict, s.Send(t, apitest.Scenario{As: as, Method: http.MethodDelete, Path: "/v1/workflows/" + flow}).Status)
		require.False(t, ask(`mutation($id: ID!) { deleteSchedule(input: {id: $id}) { id } }`, vars{"id": id}).Has("errors"))
	})
}
