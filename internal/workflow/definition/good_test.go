package definition

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestGoodPhases(t *testing.T) {
	t.Parallel()
	t.Run("the smallest", func(t *testing.T) {
		t.Parallel()
		d := accepted(t, graphOf("s>e"))
		require.Equal(t, References{}, d.References())
	})
	t.Run("what every phase may have", func(t *testing.T) {
		t.Parallel()
		p := accepted(t, phase(`"type":"PROCESS","name":"Review","config":null,"requestAction":"accept",
			"participants":[{"role":"responsible","type":"user","id":"usr_1"},{"role":"accountable","type":"team","id":"team_1"},
				{"role":"consulted","type":"agent","id":"agt_1"},{"role":"responsible","type":"user","id":"usr_1"}],
			"sla":{"responseMinutes":1,"resolutionMinutes":525600,"warnAtPercent":99,"calendarId":null}`, "done")).Phase("p")
		require.Equal(t, "Review", p.Title())
		require.Equal(t, Accept, p.RequestAction)
		require.Len(t, p.Participants, 3)
		require.Equal(t, []Participant{{Role: "responsible", Type: "user", ID: "usr_1"}}, p.InRole("responsible"))
		require.Equal(t, &SLA{ResponseMinutes: 1, ResolutionMinutes: 525600, WarnAtPercent: 99}, p.SLA)
	})
	t.Run("warnings", func(t *testing.T) {
		t.Parallel()
		for said, want := range map[string]int{"": 80, `,"warnAtPercent":null`: 80, `,"warnAtPercent":0`: 0, `,"warnAtPercent":50`: 50} {
			p := accepted(t, phase(`"type":"PROCESS","sla":{"responseMinutes":1`+said+`}`, "next")).Phase("p")
			require.Equal(t, want, p.SLA.WarnAtPercent, said)
		}
	})
	t.Run("nothing set", func(t *testing.T) {
		t.Parallel()
		p := accepted(t, phase(`"type":"PROCESS","name":null,"config":{},"participants":null,"sla":null,"requestAction":null`, "next")).Phase("p")
		require.Nil(t, p.SLA)
		require.Equal(t, NoAction, p.RequestAction)
		require.NotNil(t, p.Process)
	})
	t.Run("PROCESS", func(t *testing.T) {
		t.Parallel()
		p := accepted(t, with(Process, "Needs info", "done", "next")(`{"title":"Check ${request.title}","instructions":"Read\nit.","dueMinutes":6e1,
			"form":{"fields":[{"key":"note","type":"text","required":true}]}}`)).Phase("p").Process
		require.Equal(t, "Check …", p.Title.sample("…"))
		require.Equal(t, 60, p.DueMinutes)
		require.Equal(t, "note", p.FormDefinition.Fields[0].Key)
		require.NotNil(t, p.Form)
	})
	t.Run("DECISION", func(t *testing.T) {
		t.Parallel()
		d := accepted(t, with(Decision, "large", "small")(`{"rules":[{"when":"request.fields.amount > 100","transition":"large"},
			{"when":"request.fields.vip","transition":"large"}],"default":"small"}`)).Phase("p").Decision
		require.Len(t, d.Rules, 2)
		require.Equal(t, "small", d.Default)
	})
	t.Run("DATA enrich", func(t *testing.T) {
		t.Parallel()
		d := accepted(t, with(Data, "next")(`{"kind":"enrich","set":{"z":"1","a":"request.title"}}`)).Phase("p").Data
		require.Equal(t, []string{"z", "a"}, []string{d.Set[0].Variable, d.Set[1].Variable})
	})
	t.Run("DATA validate", func(t *testing.T) {
		t.Parallel()
		const rules = `{"kind":"validate","rules":[{"check":"request.fields.n > 0","message":"Must be positive.","field":"n"}]`
		require.Equal(t, Fail, accepted(t, with(Data, "next")(rules+`}`)).Phase("p").Data.OnInvalid)
		require.Equal(t, Ask, accepted(t, with(Data, "next")(rules+`,"onInvalid":"ask"}`)).Phase("p").Data.OnInvalid)
		d := accepted(t, with(Data, "next", "invalid")(rules+`,"onInvalid":"route"}`)).Phase("p").Data
		require.Equal(t, Route, d.OnInvalid)
		require.Equal(t, "n", d.Rules[0].Field)
	})
	t.Run("TIMER", func(t *testing.T) {
		t.Parallel()
		p := accepted(t, with(Timer, "next")(`{"duration":"2h30m","calendarId":"cal_1"}`)).Phase("p").Timer
		require.Equal(t, &TimerConfig{Duration: &Span{"2h30m", 150 * time.Minute}, CalendarID: "cal_1"}, p)
		require.NotNil(t, accepted(t, with(Timer, "next")(`{"until":"request.fields.due"}`)).Phase("p").Timer.Until)
		require.NotNil(t, accepted(t, with(Timer, "next")(`{"until":"webhook.receivedAt + duration('1h')"}`)).Phase("p").Timer.Until)
	})
	t.Run("WEBHOOK_CALLOUT", func(t *testing.T) {
		t.Parallel()
		c := accepted(t, with(WebhookCallout, "next")(`{"url":"https://a.example"}`)).Phase("p").Callout
		require.Equal(t, DefaultEvent, c.Event)
		require.Nil(t, c.Data)
		c = accepted(t, with(WebhookCallout, "next")(`{"url":"https://a.example","event":"order.made","data":["a",{"b":"${request.id}"},1,true,null,""]}`)).Phase("p").Callout
		require.Equal(t, "order.made", c.Event)
	})
	t.Run("APPROVAL", func(t *testing.T) {
		t.Parallel()
		a := accepted(t, with(Approval, "approved", "rejected", "expired")(`{"approvers":[{"type":"user","id":"usr_1"},{"type":"team","id":"team_1"}],
			"mode":"quorum","quorum":2,"order":"sequential","deadline":"3d"}`)).Phase("p").Approval
		require.Equal(t, &ApprovalConfig{
			Approvers: []Approver{{Type: "user", ID: "usr_1"}, {Type: "team", ID: "team_1"}}, Mode: Quorum, Quorum: 2, Order: Sequential,
			Deadline: &Span{"3d", 72 * time.Hour},
		}, a)
		a = accepted(t, with(Approval, "approved", "rejected")(`{"approvers":[{"type":"user","id":"usr_1"}],"mode":"all"}`)).Phase("p").Approval
		require.Equal(t, Parallel, a.Order)
	})
}

func TestGoodAPICall(t *testing.T) {
	t.Parallel()
	c := accepted(t, with(APICall, "next")(`{"method":"GET","url":"https://a.example"}`)).Phase("p").APICall
	require.Equal(t, []int{DefaultRetries, DefaultBackoffSeconds, DefaultTimeoutSeconds}, []int{c.MaxRetries, c.BackoffSeconds, c.TimeoutSeconds})

	c = accepted(t, with(APICall, "next", "missing", "broken")(`{"method":"POST","url":"https://a.example/${request.id}",
		"headers":{"x-a":"${secrets.A}"},"body":{"n":1.50},"response":{"total":"response.body.total","kind":"response.headers['content-type']","ok":"response.status < 300"},
		"statusRules":[{"status":"404","transition":"missing"},{"status":"5xx","transition":"broken"},{"status":"302","transition":"next"}],
		"retries":{"max":0},"timeoutSeconds":60}`)).Phase("p").APICall
	require.Equal(t, "X-A", c.Headers[0].Name)
	require.Len(t, c.Response, 3)
	require.Equal(t, []int{0, 1, 60}, []int{c.MaxRetries, c.BackoffSeconds, c.TimeoutSeconds})

	accepted(t, with(APICall, "ok", "bad")(`{"method":"GET","url":"https://a.example",
		"statusRules":[{"status":"2xx","transition":"ok"},{"status":"4xx","transition":"bad"}]}`))
}

func TestStatusRuleMatches(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rule   string
		status int
		want   bool
	}{
		{"404", 404, true}, {"404", 400, false}, {"4xx", 400, true}, {"4xx", 499, true}, {"4xx", 500, false},
		{"4xx", 40, false}, {"2xx", 200, true}, {"404", 4040, false}, {"404", 0, false},
	} {
		require.Equal(t, c.want, StatusRule{Status: c.rule}.Matches(c.status), "%s %d", c.rule, c.status)
	}
}

func TestParseSpan(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{
		"90s": 90 * time.Second, "5m": 5 * time.Minute, "2h30m": 150 * time.Minute, "3d": 72 * time.Hour,
		"1d2h3m4s": 26*time.Hour + 3*time.Minute + 4*time.Second, "3660d": maxSpan,
	} {
		span, ok := ParseSpan(text)
		require.True(t, ok, text)
		require.Equal(t, Span{text, want}, span)
	}
	for _, text := range []string{"", "5", "m", "5 m", "1h1h", "1m1h", "0d", "3660d1s", "1w", "1.5h", "+1h", "1H", "9999999999s", "1h\n"} {
		_, ok := ParseSpan(text)
		require.False(t, ok, text)
	}
}
