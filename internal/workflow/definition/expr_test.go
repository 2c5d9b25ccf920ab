package definition

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/internal/platform/apperr"
)

// enrich makes the config of a DATA that computes x.
func enrich(source string) string {
	raw, _ := json.Marshal(source)
	return with(Data, "next")(`{"kind":"enrich","set":{"x":` + string(raw) + `}}`)
}

// callBody makes the config of an API_CALL with a body of one template.
func callBody(template string) string {
	raw, _ := json.Marshal(template)
	return with(APICall, "next")(`{"method":"POST","url":"https://a.example","body":` + string(raw) + `}`)
}

func TestExpressionFaults(t *testing.T) {
	t.Parallel()
	const at = config + ".set.x: "
	refused(t, enrich, []fault{
		{"a name nobody knows", `req.title`, []string{at + "The expression does not compile (line 1, column 1): undeclared reference to 'req'."}},
		{"a field of the request", "1 +\n request.colour", []string{at + "The expression does not compile (line 2, column 9): undefined field 'colour'."}},
		{"a field of the execution", `execution.status`, []string{at + "The expression does not compile (line 1, column 10): undefined field 'status'."}},
		{"a field of the webhook", `webhook.query`, []string{at + "The expression does not compile (line 1, column 8): undefined field 'query'."}},
		{"types", `request.title + 1`, []string{at + "The expression does not compile (line 1, column 15): found no matching overload for '_+_' applied to '(string, int)'."}},
		{"a phase", `phases.gone.total`, []string{at + `No phase has the id "gone", which the expression reads.`}},
		{"a phase in has", `has(phases.gone)`, []string{at + `No phase has the id "gone", which the expression reads.`}},
		{"a phase by index", `phases["gone"]`, []string{at + `No phase has the id "gone", which the expression reads.`}},
		{"a phase with a leading dot", `.phases.gone`, []string{at + `No phase has the id "gone", which the expression reads.`}},
		{"phases as a whole", `size(phases)`, []string{at + "Phases are read one by one, as phases.<id>."}},
		{"phases by a computed id", `phases[request.title]`, []string{at + "Phases are read one by one, as phases.<id>."}},
		{"phases as an index", `{"a":1}[phases]`, []string{at + "The expression does not compile (line 1, column 8): found no matching overload for '_[_]' applied to '(map(string, int), map(string, dyn))'."}},
		{"response", `response.status`, []string{at + "The variable response stands only in the response expressions of an API_CALL."}},
		{"a secret", `secrets.TOKEN`, []string{at + "Secrets may be used only in templates of API_CALL and WEBHOOK_CALLOUT: secrets.TOKEN."}},
		{"all secrets", `secrets`, []string{at + "Secrets may be used only in templates of API_CALL and WEBHOOK_CALLOUT."}},
		{"a secret in a loop", `[1].map(n, secrets["A"])`, []string{at + "Secrets may be used only in templates of API_CALL and WEBHOOK_CALLOUT: secrets.A."}},
		{"a loop variable of our name", `[{"a":1}].map(secrets, secrets.a)`, []string{
			at + "A loop variable may not be called secrets.",
			at + "Secrets may be used only in templates of API_CALL and WEBHOOK_CALLOUT: secrets.a.",
		}},
		{"a pattern", `request.title.matches("(")`, []string{at + "The expression does not compile (line 1, column 23): invalid matches argument."}},
		{"loops in loops", `[1].map(a, [1].map(b, [1].map(c, [1].map(d, d))))`, []string{at + "An expression may hold at most 20 loops, and 3 inside one another."}},
		{"21 loops", `[` + strings.Repeat(`[1].exists(n, n == 1),`, 21) + `]`, []string{at + "An expression may hold at most 20 loops, and 3 inside one another."}},
		{"a struct of our own", `(request){}`, []string{at + "The expression does not compile (line 1, column 10): Syntax error: mismatched input '{' expecting <EOF>."}},
		{"5 KiB", `"` + strings.Repeat("x", 5<<10) + `"`, []string{at + "An expression may be at most 4096 bytes long."}},
		{"nothing", ``, []string{at + "Must not be empty."}},
	})
	refused(t, callBody, []fault{
		{"secrets as a whole", `${secrets}`, []string{config + ".body: Secrets are read one by one, as secrets.NAME."}},
		{"a computed secret", `${secrets[request.title]}`, []string{config + ".body: Secrets are read one by one, as secrets.NAME."}},
		{"looping over secrets", `${secrets.map(n, n)}`, []string{config + ".body: Secrets are read one by one, as secrets.NAME."}},
		{"a name that no secret has", `${secrets.token}`, []string{config + `.body: No secret can be called "token".`}},
	})
}

func TestDeepExpressionIsRefused(t *testing.T) {
	t.Parallel()
	_, rows := Parse([]byte(enrich(strings.Repeat("(", 1000) + "1" + strings.Repeat(")", 1000))))
	require.Len(t, rows, 1)
	require.Equal(t, config+".set.x", rows[0].Field)
	require.Contains(t, rows[0].Message, "recursion")
}

func TestExpressionsInAllAreBounded(t *testing.T) {
	t.Parallel()
	long := "${'" + strings.Repeat("x", 4000) + "'}"
	loops := "${" + strings.Repeat("[1].all(n, true) && ", 19) + "[1].all(n, true)}"
	for _, body := range []string{strings.Repeat("${1}", maxExpressions+10), strings.Repeat(long, 17), strings.Repeat(loops, 26)} {
		_, rows := Parse([]byte(callBody(body)))
		require.Equal(t, []apperr.Detail{
			{Field: "definition", Message: "A definition may hold at most 1000 expressions, of 64 KiB and 500 loops in all."},
		}, rows)
	}
	accepted(t, callBody(strings.Repeat("${1}", maxExpressions)))
	accepted(t, callBody(strings.Repeat(long, 16)))
	accepted(t, callBody(strings.Repeat(loops, 25)))
}

func TestExpressionsThatCompile(t *testing.T) {
	t.Parallel()
	for _, source := range []string{
		`request.fields.amount > 100 && request.priority in ["HIGH", "URGENT"]`,
		`request.assigneeId == null || request.assigneeId.startsWith("usr_")`,
		`request.completedAt == null`,
		`has(request.fields.note) ? request.fields.note : ""`,
		`request.tags["cost.centre"]`,
		`request.createdAt + duration("1h")`,
		`timestamp(request.createdAt) < timestamp(webhook.body.at)`,
		`webhook.headers["x-source"] + webhook.method + string(webhook.receivedAt)`,
		`phases.p.total * 2.0`, `phases["s"].x`, `has(phases.e)`, `has(phases.p.outcome)`, `.phases.p`,
		`1 < 1.5`, `request.fields.n == 5`,
		`webhook.body.items.all(i, i.price > 0)`,
		`execution.id`, `request`, `webhook`,
		`base64.encode(bytes("a:b"))`,
	} {
		t.Run(source, func(t *testing.T) {
			t.Parallel()
			d := accepted(t, enrich(source))
			require.NotNil(t, d.Phase("p").Data.Set[0].Value)
		})
	}
}

func TestSplit(t *testing.T) {
	t.Parallel()
	text := func(s string) piece { return piece{text: s} }
	code := func(s string) piece { return piece{text: s, code: true} }
	for _, c := range []struct {
		source string
		pieces []piece
	}{
		{``, nil},
		{`plain $ {text} }`, []piece{text(`plain $ {text} }`)}},
		{`${a}`, []piece{code(`a`)}},
		{`x${a}y${b}z`, []piece{text(`x`), code(`a`), text(`y`), code(`b`), text(`z`)}},
		{`$${a}`, []piece{text(`$`), code(`a`)}},
		{`${{"a": {"b": 1}}.a.b}`, []piece{code(`{"a": {"b": 1}}.a.b`)}},
		{`${"}"}`, []piece{code(`"}"`)}},
		{`${'}'}!`, []piece{code(`'}'`), text(`!`)}},
		{`${"\"}"}`, []piece{code(`"\"}"`)}},
		{`${r"\"}`, []piece{code(`r"\"`)}},
		{`${bR'\'}`, []piece{code(`bR'\'`)}},
		{`${b"\"}"}`, []piece{code(`b"\"}"`)}},
		{`${"""a"}" """}`, []piece{code(`"""a"}" """`)}},
		{`${'''}'''}`, []piece{code(`'''}'''`)}},
		{`${""}`, []piece{code(`""`)}},
		{"${a // }\n}", []piece{code("a // }\n")}},
		{`${"${x}"}`, []piece{code(`"${x}"`)}},
	} {
		got, err := split(c.source)
		require.NoError(t, err, c.source)
		require.Equal(t, c.pieces, got, c.source)
	}
	for _, source := range []string{`${`, `a${b`, `${"}`, `${{}`, `${a // }`, `${"\"}`, `${'''}''}`} {
		_, err := split(source)
		require.ErrorIs(t, err, errUnclosed, source)
	}
}

func TestReferences(t *testing.T) {
	t.Parallel()
	d := accepted(t, `{"phases":[
		{"id":"s","type":"START"},
		{"id":"ask","type":"APPROVAL","sla":{"calendarId":"cal_1"},"config":{"mode":"any","approvers":[{"type":"user","id":"usr_1"},{"type":"team","id":"team_1"}]},
			"participants":[{"role":"responsible","type":"agent","id":"agt_1"},{"role":"informed","type":"user","id":"usr_2"},{"role":"consulted","type":"team","id":"team_1"}]},
		{"id":"wait","type":"TIMER","config":{"duration":"1d","calendarId":"cal_2"}},
		{"id":"call","type":"API_CALL","config":{"method":"POST","url":"https://a.example/${secrets.PATH}",
			"headers":{"Authorization":"Bearer ${secrets.TOKEN}"},"body":{"a":["${secrets.A + secrets.B + secrets.A}"]}}},
		{"id":"tell","type":"WEBHOOK_CALLOUT","config":{"url":"https://a.example","signingSecret":"${ secrets.SIGN }","data":{"t":"${secrets['TOKEN']}"}}},
		{"id":"e","type":"END"}],"transitions":[
		{"from":"s","name":"next","to":"ask"},{"from":"ask","name":"approved","to":"wait"},{"from":"ask","name":"rejected","to":"e"},
		{"from":"wait","name":"next","to":"call"},{"from":"call","name":"next","to":"tell"},{"from":"tell","name":"next","to":"e"}]}`)
	require.Equal(t, References{
		Secrets: []Reference{
			{ID: "PATH", Field: "definition.phases[call].config.url"},
			{ID: "TOKEN", Field: "definition.phases[call].config.headers.Authorization"},
			{ID: "A", Field: "definition.phases[call].config.body.a[0]"},
			{ID: "B", Field: "definition.phases[call].config.body.a[0]"},
			{ID: "TOKEN", Field: "definition.phases[tell].config.data.t"},
			{ID: "SIGN", Field: "definition.phases[tell].config.signingSecret"},
		},
		Users: []Reference{
			{ID: "usr_2", Field: "definition.phases[ask].participants[1].id"},
			{ID: "usr_1", Field: "definition.phases[ask].config.approvers[0].id"},
		},
		Teams: []Reference{
			{ID: "team_1", Field: "definition.phases[ask].participants[2].id"},
			{ID: "team_1", Field: "definition.phases[ask].config.approvers[1].id"},
		},
		Agents:    []Reference{{ID: "agt_1", Field: "definition.phases[ask].participants[0].id"}},
		Idle:      []Reference{{ID: "responsible", Field: "definition.phases[ask].participants[0].role"}},
		Calendars: []Reference{{ID: "cal_1", Field: "definition.phases[ask].sla.calendarId"}, {ID: "cal_2", Field: "definition.phases[wait].config.calendarId", Minutes: 1440}},
	}, d.References())
	call := d.Phase("call").APICall
	require.Equal(t, []string{"PATH"}, call.URL.Secrets())
	require.Equal(t, []string{"A", "B"}, call.Body.Secrets())
	require.Equal(t, "SIGN", d.Phase("tell").Callout.SigningSecret)
}
