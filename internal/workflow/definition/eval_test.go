package definition

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func bound() Bound {
	return Vars{
		Request: map[string]any{
			"id": "req_1", "number": int64(1042), "waiting": false, "title": "Größe & more", "priority": "HIGH", "assigneeId": nil, "createdAt": "2026-01-02T03:04:05.678Z",
			"completedAt": nil, "tags": map[string]any{"a.b": "c"},
			"fields": map[string]any{"amount": 5.0, "half": 0.5, "big": 1e15, "list": []any{1.0, "x", nil}, "due": "2026-02-03T04:05:06Z", "up": "..", "none": nil},
		},
		ExecutionID: "exe_1",
		Webhook:     map[string]any{"method": "POST", "headers": map[string]string{"x-a": "1"}, "body": map[string]any{"n": 2.0}, "receivedAt": time.Unix(0, 0)},
		Phases:      map[string]any{"s": map[string]any{}, "p": map[string]any{"total": 7.0}},
		Secrets:     map[string]string{"TOKEN": "t0p"},
	}.Bind()
}

func exprOf(t *testing.T, source string) *Expr {
	t.Helper()
	return accepted(t, enrich(source)).Phase("p").Data.Set[0].Value
}

func TestExprValue(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]any{
		`request.title`:                   "Größe & more",
		`request.number == 1042`:          true,
		`request.number + 1`:              int64(1043),
		`"#" + string(request.number)`:    "#1042",
		`!request.waiting`:                true,
		`request.fields.amount`:           5.0,
		`request.fields.amount == 5`:      true,
		`request.fields.amount > 4`:       true,
		`request.assigneeId == null`:      true,
		`request.assigneeId`:              nil,
		`request.completedAt == null`:     true,
		`has(request.acceptedAt)`:         false,
		`has(request.fields.gone)`:        false,
		`request.tags["a.b"]`:             "c",
		`request.fields.list`:             []any{1.0, "x", nil},
		`request.createdAt`:               "2026-01-02T03:04:05.678Z",
		`request.createdAt.getFullYear()`: int64(2026),
		`timestamp(request.createdAt) + duration("1h") == request.createdAt + duration("60m")`: true,
		`duration("90s")`:               "90s",
		`b"\x01"`:                       "AQ==",
		`{"a": [1, 2u]}`:                map[string]any{"a": []any{int64(1), uint64(2)}},
		`{1: true}`:                     map[string]any{"1": true},
		`execution.id`:                  "exe_1",
		`webhook.headers["x-a"]`:        "1",
		`webhook.body.n`:                2.0,
		`webhook.receivedAt`:            "1970-01-01T00:00:00.000Z",
		`phases.p.total + 1.0`:          8.0,
		`has(phases.e)`:                 false,
		`has(phases.p.gone)`:            false,
		`base64.encode(bytes("u:p"))`:   "dTpw",
		`request.priority in ["HIGH"]`:  true,
		`1 < 1.5 && 2u > 1`:             true,
		`request.fields.amount == 5.0`:  true,
		`phases["p"].total == 7`:        true,
		`[1, 2].map(n, n * 2)[1] == 4`:  true,
		`string(request.createdAt)`:     "2026-01-02T03:04:05.678Z",
		`request.title.matches("^Gr.")`: true,
	} {
		t.Run(source, func(t *testing.T) {
			t.Parallel()
			got, err := exprOf(t, source).Value(t.Context(), bound())
			require.NoError(t, err)
			require.Equal(t, want, got)
			_, err = json.Marshal(got)
			require.NoError(t, err)
		})
	}
}

func TestExprErrors(t *testing.T) {
	t.Parallel()
	for source, part := range map[string]string{
		`phases.e.x + 1`:               "not given: phases.e.x",
		`phases.p.total.x`:             "no such key: x",
		`1 / int(request.fields.none)`: "",
		`1.0 / 0.0`:                    "JSON cannot hold",
		`type(1)`:                      "JSON cannot hold",
		`request.fields.list[9]`:       "index",
		`[0,1,2,3,4,5,6,7,8,9].map(a, [0,1,2,3,4,5,6,7,8,9].map(b, "` + strings.Repeat("x", 3500) + `" + "y")).map(l, l.map(s, s + s + s + s + s + s + s + s).map(s, s + s + s + s + s + s + s + s))`: "", // too costly, or on a busy machine too long
	} {
		_, err := exprOf(t, source).Value(t.Context(), bound())
		require.ErrorContains(t, err, part, source)
	}
}

func TestNullVariables(t *testing.T) {
	t.Parallel()
	b := Vars{}.Bind()
	v, err := exprOf(t, `request == null && webhook == null`).Value(t.Context(), b)
	require.NoError(t, err)
	require.Equal(t, true, v)
	for _, source := range []string{`request.title`, `phases.s.x`, `webhook.body.n`} {
		v, err := exprOf(t, source).Value(t.Context(), b)
		require.NoError(t, err, source)
		require.Nil(t, v, source)
		_, err = exprOf(t, source+`.startsWith("x")`).Value(t.Context(), b)
		require.ErrorContains(t, err, "not given: "+source)
	}
}

// request.sla is null for a request without service levels, and has a state and moments otherwise.
func TestServiceLevelsInExpressions(t *testing.T) {
	t.Parallel()
	with := Vars{Request: map[string]any{"sla": map[string]any{"state": "ON_TRACK", "responseDueAt": nil, "resolutionDueAt": "2026-02-03T04:05:06.000Z"}}}.Bind()
	without := Vars{Request: map[string]any{"sla": nil}}.Bind()
	for source, want := range map[string][2]bool{
		`request.sla == null`: {false, true},
		`request.sla != null && request.sla.state == "ON_TRACK"`:                                                  {true, false},
		`request.sla != null && request.sla.responseDueAt == null`:                                                {true, false},
		`request.sla != null && request.sla.resolutionDueAt < timestamp("2026-02-03T05:00:00Z")`:                  {true, false},
		`request.sla != null && request.sla.resolutionDueAt - timestamp("2026-02-03T04:00:00Z") < duration("1h")`: {true, false},
	} {
		for i, b := range []Bound{with, without} {
			got, err := exprOf(t, source).Bool(t.Context(), b)
			require.NoError(t, err, source)
			require.Equal(t, want[i], got, source)
		}
	}
}

func TestBoolAndTime(t *testing.T) {
	t.Parallel()
	ok, err := exprOf(t, `request.fields.amount > 1`).Bool(t.Context(), bound())
	require.NoError(t, err)
	require.True(t, ok)
	_, err = exprOf(t, `request.fields.amount`).Bool(t.Context(), bound())
	require.EqualError(t, err, "the expression gave a double, not a bool")

	for _, source := range []string{`timestamp("2026-02-03T04:05:06Z")`, `request.fields.due`, `timestamp(request.fields.due)`} {
		at, err := exprOf(t, source).Time(t.Context(), bound(), time.UTC)
		require.NoError(t, err, source)
		require.True(t, at.Equal(time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC)), source)
	}
	for source, want := range map[string]time.Time{
		`"2026-02-03t04:05:06z"`: time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC), `"1998-12-31T23:59:60Z"`: time.Date(1999, 1, 1, 0, 0, 0, 0, time.UTC),
	} { // as forms take them
		at, err := exprOf(t, source).Time(t.Context(), bound(), time.UTC)
		require.NoError(t, err, source)
		require.True(t, at.Equal(want), source)
	}
	for _, source := range []string{`request.fields.up`, `request.fields.amount`, `request.fields.gone`} {
		_, err := exprOf(t, source).Time(t.Context(), bound(), time.UTC)
		require.Error(t, err, source)
	}
}

func TestEvaluationEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	list := "[" + strings.TrimSuffix(strings.Repeat("1,", 500), ",") + "]"
	_, err := exprOf(t, list+`.all(n, n == 1)`).Bool(ctx, bound())
	require.ErrorContains(t, err, "interrupted")
}

func TestResponseExpressions(t *testing.T) {
	t.Parallel()
	c := accepted(t, with(APICall, "next")(`{"method":"GET","url":"https://a.example","response":{
		"total":"response.body.total * 2.0","kind":"response.headers['content-type']","fine":"response.status < 300 && request.priority == 'HIGH'"}}`)).Phase("p").APICall
	b := bound()
	b.cel["response"] = map[string]any{"status": 200, "headers": map[string]string{"content-type": "text/plain"}, "body": map[string]any{"total": 1.5}}
	got := map[string]any{}
	for _, a := range c.Response {
		v, err := a.Value.Value(t.Context(), b)
		require.NoError(t, err)
		got[a.Variable] = v
	}
	require.Equal(t, map[string]any{"total": 3.0, "kind": "text/plain", "fine": true}, got)
}

func TestTemplates(t *testing.T) {
	t.Parallel()
	for template, want := range map[string]any{
		`plain`:                           "plain",
		``:                                "",
		`${request.fields.amount}`:        5.0,
		`${request.fields.amount} pieces`: "5 pieces",
		`${request.fields.half}${1}${2u}`: "0.512",
		`n=${request.fields.big}`:         "n=1000000000000000",
		`<${request.assigneeId}>`:         "<>",
		`${request.fields.list} ${true}`:  `[1,"x",null] true`,
		`${request.fields.list}`:          []any{1.0, "x", nil},
		`Bearer ${secrets.TOKEN}`:         "Bearer t0p",
		`${secrets["TOKEN"]}`:             "t0p",
		`at ${request.createdAt}`:         "at 2026-01-02T03:04:05.678Z",
		`${'${'}literal}`:                 "${literal}",
	} {
		t.Run(template, func(t *testing.T) {
			t.Parallel()
			got, err := accepted(t, callBody(template)).Phase("p").APICall.Body.Eval(t.Context(), bound())
			require.NoError(t, err)
			require.Equal(t, want, got)
		})
	}
}

func TestTemplatesDeepInABody(t *testing.T) {
	t.Parallel()
	c := accepted(t, with(APICall, "next")(`{"method":"POST","url":"https://a.example","headers":{"X":"a${1}"},
		"body":{"${k}":[{"id":"${request.id}","n":1.50,"on":true,"no":null},"x${1 + 1}"]}}`)).Phase("p").APICall
	v, err := c.Body.Eval(t.Context(), bound())
	require.NoError(t, err)
	raw, err := json.Marshal(v)
	require.NoError(t, err)
	require.JSONEq(t, `{"${k}":[{"id":"req_1","n":1.50,"on":true,"no":null},"x2"]}`, string(raw))
	require.Contains(t, string(raw), "1.50", "a number is sent as it was written")
	h, err := c.Headers[0].Value.Text(t.Context(), bound())
	require.NoError(t, err)
	require.Equal(t, "a1", h)

	c = accepted(t, callBody(`a ${phases.p.gone}`)).Phase("p").APICall
	v, err = c.Body.Eval(t.Context(), bound())
	require.NoError(t, err)
	require.Equal(t, "a ", v)
	c = accepted(t, callBody(`a ${phases.p.gone + 1}`)).Phase("p").APICall
	_, err = c.Body.Eval(t.Context(), bound())
	require.ErrorContains(t, err, "not given: phases.p.gone")
}

func TestURLTemplates(t *testing.T) {
	t.Parallel()
	url := func(template string) (string, error) {
		raw, _ := json.Marshal("https://a.example/" + template)
		return accepted(t, with(APICall, "next")(`{"method":"GET","url":`+string(raw)+`}`)).Phase("p").APICall.URL.URL(t.Context(), bound())
	}
	for template, want := range map[string]string{
		`x/${request.id}?q=${request.title}`: "x/req_1?q=Gr%C3%B6%C3%9Fe%20%26%20more",
		`${"a/b?c#d&e=f+g:@%"}`:              "a%2Fb%3Fc%23d%26e%3Df%2Bg%3A%40%25",
		`${request.fields.amount}`:           "5",
		`x?a=${request.assigneeId}&b=${""}&c=${".."}&d=${request.fields.gone}`: "x?a=&b=&c=..&d=",
		`a%20b/${phases.p.total}/${"..%2f.."}`:                                 "a%20b/7/..%252f..",
	} {
		got, err := url(template)
		require.NoError(t, err)
		require.Equal(t, "https://a.example/"+want, got)
	}
	for _, template := range []string{`${request.fields.up}`, `${""}`, `${request.assigneeId}`, `${"."}`, `${request.fields.gone}`, `${""}?q=1`, `${".."}/x?q=${""}`} {
		_, err := url(template)
		require.Error(t, err, template)
	}
}

// What only names a value gives it back with the digits that were sent; what computes, computes with doubles.
func TestDigitsAreKept(t *testing.T) {
	t.Parallel()
	fields := map[string]any{"n": json.Number("123456789012345678"), "list": []any{json.Number("1.10"), "x"}}
	b := Vars{
		Request: map[string]any{"title": "T", "fields": fields},
		Phases:  map[string]any{"p": map[string]any{"n": json.Number("0.30")}},
	}.Bind()
	d := accepted(t, with(WebhookCallout, "next")(`{"url":"https://a.example","data":{
		"whole": "${request.fields.n}", "index": "${request.fields['n']}", "text": "n=${request.fields.n}", "list": "${request.fields.list}",
		"phase": "${phases.p.n}", "sum": "${request.fields.n + 1.0}", "size": "${request.fields.list.size()}", "less": "${phases.p.n < 0.5}"}}`))
	got, err := d.Phase("p").Callout.Data.Eval(t.Context(), b)
	require.NoError(t, err)
	raw, err := json.Marshal(got)
	require.NoError(t, err)
	require.Equal(t, `{"index":123456789012345678,"less":true,"list":[1.10,"x"],"phase":0.30,"size":2,`+
		`"sum":123456789012345680,"text":"n=123456789012345678","whole":123456789012345678}`, string(raw))
	require.Equal(t, json.Number("123456789012345678"), fields["n"], "binding changes nothing")
}

// Numbers of forms are doubles and literals ints; they compute with one another.
func TestMixedNumbers(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]any{
		`request.fields.amount * 2`: 10.0, `2 * request.fields.amount`: 10.0, `request.fields.amount + 1`: 6.0, `1 - request.fields.amount`: -4.0,
		`request.fields.amount / 2`: 2.5, `11 / request.fields.amount`: 2.2, `request.fields.amount % 2`: int64(1), `request.number * 1.5`: 1563.0,
		`request.number + request.fields.amount`: 1047.0, `phases.p.total * 2 == 14`: true, `1 + 2`: int64(3), `7 / 2`: int64(3), `1.5 + 1`: 2.5,
		`request.title + "!"`: "Größe & more!", `[1] + [2]`: []any{int64(1), int64(2)}, `[request.fields.amount * 2][0] + 1`: 11.0,
		`request.createdAt + duration("1h") > request.createdAt`: true,
	} {
		got, err := exprOf(t, source).Value(t.Context(), bound())
		require.NoError(t, err, source)
		require.Equal(t, want, got, source)
	}
	for _, source := range []string{`request.fields.amount * request.fields.none`, `1 / 0`, `request.fields.list + 1`} {
		_, err := exprOf(t, source).Value(t.Context(), bound())
		require.Error(t, err, source)
	}
}

// An optional answer that is absent is null, as one that was sent as null.
func TestAbsentAnswers(t *testing.T) {
	t.Parallel()
	for _, request := range []map[string]any{{"fields": map[string]any{}}, {"fields": nil}, {}, {"fields": map[string]any{"a": nil, "b": nil}}} {
		b := Vars{Request: request}.Bind()
		for source, want := range map[string]any{
			`request.fields.a`: nil, `request.fields["a"] == null`: true, `request.fields.a != "x"`: true,
			`request.fields.a == null ? 0 : request.fields.a * 2`: int64(0), `request.fields.a == request.fields.b`: true,
		} {
			got, err := exprOf(t, source).Value(t.Context(), b)
			require.NoError(t, err, source)
			require.Equal(t, want, got, source)
		}
	}
	// What asks whether an answer is there is told that it is not, whichever of the two it is.
	for _, fields := range []map[string]any{{"b": 1.0}, {"b": 1.0, "a": nil}} {
		b := Vars{Request: map[string]any{"fields": fields, "sla": nil}}.Bind()
		for source, want := range map[string]any{
			`has(request.fields.a) ? request.fields.a : "none"`: "none", `"a" in request.fields`: false, `request.fields.size()`: int64(1),
			`has(request.fields.b) && request.fields.b == 1`: true, `request.fields.?a.orValue("none")`: "none", `request.fields.?a`: nil,
			`has(request.fields.a) || request.fields.a == null`: true, `"a" in request.fields ? request.fields.a : request.fields.?c`: nil,
			`has(request.fields["b"].x) || has(request.sla)`: false, `request.fields.exists(k, k == "a")`: false,
			`has({"c": request.fields.a}.c)`: true, // a value of the expression itself
		} {
			got, err := exprOf(t, source).Value(t.Context(), b)
			require.NoError(t, err, source)
			require.Equal(t, want, got, source)
		}
	}
}

// A comparison with an answer that is not there is false, in definitions and in the conditions of rules and filters alike.
func TestComparingAbsentAnswers(t *testing.T) {
	t.Parallel()
	for _, fields := range []map[string]any{{"n": 1.0}, {"n": 1.0, "a": nil}} {
		b := Vars{Request: map[string]any{"fields": fields, "assigneeId": nil}}.Bind()
		for source, want := range map[string]bool{
			`request.fields.a > 5`: false, `request.fields.a <= 5`: false, `request.fields.n < request.fields.a`: false, `request.fields.n >= request.fields.a`: false,
			`!(request.fields.a > 5)`: true, `request.fields.a == 5`: false, `request.fields.a != "x"`: true, `request.fields.a in ["x"]`: false, `"x" in request.fields.a`: false,
			`has(request.fields.a)`: false, `request.fields.n < 5 && request.fields.n >= 1`: true, `request.fields.n <= 0 || request.fields.n > 1`: false,
			`request.assigneeId > "usr_"`: false, `[1, 2].exists(n, request.fields.a > n)`: false,
		} {
			got, err := exprOf(t, source).Bool(t.Context(), b)
			require.NoError(t, err, source)
			require.Equal(t, want, got, source)
			c, faults := ParseCondition(t.Context(), "when", source)
			require.Empty(t, faults, source)
			require.Equal(t, want, c.Holds(t.Context(), b), source)
		}
		for _, source := range []string{`request.fields.n > "1"`, `request.fields.a * 2 > 1`, `request.fields.a.startsWith("x")`} {
			_, err := exprOf(t, source).Bool(t.Context(), b)
			require.Error(t, err, source)
		}
	}
}

func TestTextsAndDates(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]any{
		`request.title.substring(0, 5)`: "Größe", `"a-b-c".split("-")`: []any{"a", "b", "c"}, `"a-b-c".split("-", 2)`: []any{"a", "b-c"}, `"aaa".replace("a", "b", 2)`: "bba",
		`"aaa".replace("a", "bb")`: "bbbbbb", `" High ".trim().lowerAscii()`: "high", `"abc".indexOf("c")`: int64(2),
		`fold("ÉCOLE, Straße") + fold("ΣΊΣΥΦΟΣ")`: "ecole, strasseσισυφοσ", `fold(3.5)`: 3.5, `fold(request.title).startsWith(fold("GRÖSSE"))`: true,
		`{"high": "HIGH"}[?"low"].orValue("MEDIUM")`: "MEDIUM", `date("2026-03-01") - date("2026-02-28") == duration("24h")`: true,
		`date("2026-12-24", "Europe/Berlin") == timestamp("2026-12-23T23:00:00Z")`: true, `date("2026-07-01", "America/New_York").getHours()`: int64(4),
	} {
		got, err := exprOf(t, source).Value(t.Context(), bound())
		require.NoError(t, err, source)
		require.Equal(t, want, got, source)
	}
	for _, source := range []string{
		`"` + strings.Repeat("a", 2000) + `".replace("a", "` + strings.Repeat("b", 1500) + `")`, `date("2026-02-30")`, `date("2026-02-28", "Local")`, `date("2026-02-28", "Mars/Olympus")`,
		`["` + strings.Repeat("a", 1000) + `"].map(s, s.replace("a", s).replace("a", s))`,
	} {
		_, err := exprOf(t, source).Value(t.Context(), bound())
		require.Error(t, err, source)
	}
	const once = `fold(request.title) == "x" || `
	long := Vars{Request: map[string]any{"title": strings.Repeat("a", 10_000)}}.Bind()
	_, err := exprOf(t, once+"false").Value(t.Context(), long)
	require.NoError(t, err)
	_, err = exprOf(t, strings.Repeat(once, 110)+"false").Value(t.Context(), long)
	require.ErrorContains(t, err, "cost limit", "each letter counts")
	_, err = exprOf(t, `request.fields.missing * 2`).Value(t.Context(), bound())
	require.ErrorContains(t, err, "not given: request.fields.missing")
	at, err := exprOf(t, `"2026-03-01"`).Time(t.Context(), bound(), time.UTC)
	require.NoError(t, err)
	require.Equal(t, "2026-03-01T00:00:00Z", at.Format(time.RFC3339))
}

// A field is named as people write it, also where its name has hyphens. What is a difference stays one.
func TestFieldsWithHyphens(t *testing.T) {
	t.Parallel()
	b := Vars{
		Webhook: map[string]any{"body": map[string]any{
			"a-b": map[string]any{"c-d": 7.0}, "a": 5.0, "n": 2.0, "list": []any{map[string]any{"x-y": 1.0}}, "e-mail": "a@b.test",
		}},
		Request: map[string]any{"fields": map[string]any{"vat-id": "DE1"}, "tags": map[string]any{"cost-centre": "7"}},
	}.Bind()
	for source, want := range map[string]any{
		`webhook.body.a-b.c-d`: 7.0, `webhook.body.list[0].x-y + 1`: 2.0, `request.fields.vat-id`: "DE1", `request.tags.cost-centre == "7"`: true, `has(webhook.body.e-mail)`: true, `has(webhook.body["f-mail"])`: false,
		`webhook.body.a-webhook.body.n`: 3.0, `webhook.body.a-1`: 4.0, `webhook.body.a - webhook.body.n`: 3.0, `"webhook.body.a-b"`: "webhook.body.a-b",
		`webhook.body.e-mail + " a.b-c"`: "a@b.test a.b-c", `webhook.body.a-b.c-d > webhook.body.a-webhook.body.n`: true,
		`webhook.body.list.map(i, i.x-y)`: []any{1.0},
	} {
		got, err := exprOf(t, source).Value(t.Context(), b)
		require.NoError(t, err, source)
		require.Equal(t, want, got, source)
	}
}

// A header is named as people write it.
func TestHeadersByName(t *testing.T) {
	t.Parallel()
	b := Vars{Webhook: map[string]any{"headers": map[string]any{"x-github-event": "push", "from": "a"}}}.Bind()
	for source, want := range map[string]any{
		`webhook.headers.x-github-event`: "push", `webhook.headers.X-GitHub-Event == "push"`: true, `webhook.headers.x-github-event.startsWith("pu")`: true,
		`webhook.headers.from + "-b"`: "a-b", `"webhook.headers.x-github-event"`: "webhook.headers.x-github-event", `has(webhook.headers.from)`: true,
		"1 // it's\n + size(webhook.headers.x-github-event)": int64(5),
	} {
		got, err := exprOf(t, source).Value(t.Context(), b)
		require.NoError(t, err, source)
		require.Equal(t, want, got, source)
	}
}
