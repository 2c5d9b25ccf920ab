package graph_test

import (
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/internal/test/apitest"
	"atrium/internal/test/testkit"
)

// abuse is a call that must be refused before it causes a database statement.
type abuse struct {
	name, body string
	status     int
	code       string
	as         string // "owner" or "member"; member when empty
}

// document returns the body of a call.
func document(query string, more ...string) string {
	return fmt.Sprintf(`{"query":%q%s}`, query, strings.Join(more, ""))
}

func repeated(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// doubling returns a document with n fragments, each of which spreads the next one twice.
func doubling(n int) string {
	var b strings.Builder
	b.WriteString("query { ...f0 } ")
	for i := range n {
		fmt.Fprintf(&b, "fragment f%d on Query { ...f%d ...f%d } ", i, i+1, i+1)
	}
	fmt.Fprintf(&b, "fragment f%d on Query { viewer { id } }", n)
	return b.String()
}

func catalogue() []abuse {
	const tooComplex, invalid = "query_too_complex", "validation_error"
	deep := func(n int) string { return strings.Repeat("{a", n) + strings.Repeat("}", n) }
	return []abuse{
		{name: "10,000 aliases", body: document("{" + repeated(10_000, "a%d:viewer{id} ") + "}"), code: tooComplex},
		{name: "600 aliases of a column", body: document("{viewer{" + repeated(600, "a%d:id ") + "}}"), code: tooComplex},
		{name: "501 aliases", body: document("{viewer{" + repeated(501, "a%d:id ") + "}}"), code: tooComplex},
		{name: "1,100 fields", body: document("{viewer{" + strings.Repeat("id ", 1_100) + "}}"), code: tooComplex},
		{name: "51 root fields", body: document("{" + strings.Repeat("viewer{id} ", 51) + "}"), code: tooComplex},
		{name: "1,000 deep", body: document(deep(1_000)), code: tooComplex},
		{name: "100,000 deep", body: document(deep(100_000)), code: tooComplex},
		{name: "13 deep", body: document(`{services{edges{node{offerings{edges{node{service{offerings{edges{node{service{name}}}}}}}}}}}}`), code: tooComplex},
		{name: "13 deep by fragments", body: document(`{services{edges{node{...f}}}} fragment f on Service{offerings{edges{node{service{offerings{edges{node{service{name}}}}}}}}}`), code: tooComplex},
		{name: "cyclic fragments", body: document("{...a} fragment a on Query{...b} fragment b on Query{...c} fragment c on Query{...a}"), code: tooComplex},
		{name: "a fragment of itself", body: document("{viewer{...a}} fragment a on Viewer{id ...a}"), code: tooComplex},
		{name: "2^30 fields by fragments", body: document(doubling(30)), code: tooComplex},
		{name: "2^900 fields by fragments", body: document(doubling(900)), code: tooComplex},
		{name: "lists in lists", body: document("{services(first:100){edges{node{offerings(first:100){edges{node{id name}}}}}}}"), code: tooComplex},
		{name: "lists in lists by variables", body: document("query($n:Int){services(first:$n){edges{node{offerings(first:$n){edges{node{id name}}}}}}}", `,"variables":{"n":100}`), code: tooComplex},
		{name: "lists in lists by defaults", body: document("query($n:Int=100){services(first:$n){edges{node{offerings(first:$n){edges{node{id name}}}}}}}"), code: tooComplex},
		{name: "lists in lists by fragments", body: document("{services(first:100){...c}} fragment c on ServiceConnection{edges{...e}} fragment e on ServiceEdge{node{offerings(first:100){edges{node{id name}}}}}"), code: tooComplex},
		{name: "many lists", body: document("{" + repeated(49, "a%d:requests(first:100){edges{node{id title status priority}}} ") + "}"), code: tooComplex},
		{name: "introspection", body: document("{__schema{types{name}}}"), code: invalid},
		{name: "introspection of a type", body: document(`{__type(name:"Query"){name}}`), code: invalid},
		{name: "introspection by a fragment", body: document("{...a} fragment a on Query{x:__schema{types{name}}}"), code: invalid},
		{name: "introspection bomb", as: "owner", body: document("{__schema{types{fields{type{fields{type{fields{type{fields{name}}}}}}}}}}"), code: invalid},
		{name: "introspection bomb of aliases", as: "owner", body: document("{__schema{" + repeated(501, "a%d:types{name} ") + "}}"), code: tooComplex},
		{name: "introspection without end", as: "owner", body: document("{__schema{types{" + strings.Repeat("ofType{", 20) + "name" + strings.Repeat("}", 20) + "}}}"), code: tooComplex},
		{name: "variables that are a list", body: document("{viewer{id}}", `,"variables":[1]`), code: invalid},
		{name: "variables that are a text", body: document("{viewer{id}}", `,"variables":"x"`), code: invalid},
		{name: "a variable of another type", body: document("query($n:Int){services(first:$n){totalCount}}", `,"variables":{"n":"many"}`), code: invalid},
		{name: "a variable out of a number's range", body: document("query($n:Int){services(first:$n){totalCount}}", `,"variables":{"n":1e400}`), code: invalid},
		{name: "a variable that is an object", body: document("query($n:ID!){service(id:$n){id}}", `,"variables":{"n":{"a":[{}]}}`), code: invalid},
		{name: "a variable that is missing", body: document("query($n:ID!){service(id:$n){id}}"), code: invalid},
		{name: "a filter that nobody knows", body: document("{services(filter:{colour:\"red\"}){totalCount}}"), code: invalid},
		{name: "a list where an object is due", body: document("query($f:ServiceFilter){services(filter:$f){totalCount}}", `,"variables":{"f":[[]]}`), code: invalid},
		{name: "lists of lists of lists", body: document("query($f:ServiceFilter){services(filter:$f){totalCount}}", `,"variables":{"f":{"status":`+strings.Repeat("[", 90)+strings.Repeat("]", 90)+`}}`), code: invalid},
		{name: "5,000 variables", body: document("query(" + repeated(2_400, "$v%d:Int ") + "){viewer{id}}"), code: invalid},
		{name: "900 directives", body: document("{viewer{id " + strings.Repeat("@include(if:true)", 900) + "}}"), code: invalid},
		{name: "overlapping fields", body: document("{" + strings.Repeat("viewer{company{id name slug plan} name} ", 49) + "x}"), code: invalid},
		{name: "overlapping arguments", body: document("{viewer{id}" + repeated(48, "service(id:\"%d\"){id name slug description status tags createdAt updatedAt} ") + "}"), code: invalid},
		{name: "a body that nests", body: `{"query":"{viewer{id}}","variables":{"a":` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + `}}`, code: invalid},
		{name: "a key twice", body: `{"query":"{viewer{id}}","query":"{viewer{name}}"}`, code: invalid},
		{name: "several calls in one", body: `[{"query":"{viewer{id}}"},{"query":"{viewer{id}}"}]`, code: invalid},
		{name: "no operation", body: document("fragment f on Query{viewer{id}}"), code: invalid},
		{name: "no query", body: `{}`, code: invalid},
		{name: "no GraphQL", body: document("SELECT * FROM users"), code: invalid},
		{name: "a subscription that nobody offers", body: document("subscription{viewer{id}}"), code: invalid},
		{name: "an operation that is not there", body: document("query a{viewer{id}} query b{viewer{id}}", `,"operationName":"c"`), code: invalid},
		{name: "two operations without a name", body: document("query a{viewer{id}} query b{viewer{id}}"), code: invalid},
		{name: "over a mebibyte", body: document("{viewer{id}}#" + strings.Repeat("x", 1<<20)), status: http.StatusRequestEntityTooLarge, code: "payload_too_large"},
	}
}

// Calls that are meant to exhaust the server are refused with 400 before the first statement.
func TestAbuseIsRefusedBeforeTheDatabase(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		statements := counting(s)
		for _, a := range catalogue() {
			as := s.A.Member
			if a.as == "owner" {
				as = s.A.Owner
			}
			if a.status == 0 {
				a.status = http.StatusBadRequest
			}
			began := time.Now()
			res := s.Send(t, apitest.Scenario{As: as, Method: http.MethodPost, Path: "/graphql", Body: a.body})
			t.Logf("%-40s %v", a.name, time.Since(began))
			require.Equal(t, a.status, res.Status, "%s: %s", a.name, res.Body)
			require.Equal(t, a.code, res.Text("errors.0.extensions.code"), "%s: %s", a.name, res.Body)
			require.Equal(t, res.RequestID(), res.Text("errors.0.extensions.requestId"), a.name)
			require.False(t, res.Has("data"), "%s: nothing was run", a.name)
			require.NotContains(t, string(res.Body), "Did you mean", a.name)
			require.Less(t, len(res.Body), 8<<10, "%s: the refusal is longer than it helps", a.name)
			require.Empty(t, s.Audit(t, res.RequestID()), a.name)
			require.Zero(t, statements.Load(), a.name)
		}
	})
}

// BenchmarkAbuse measures the time and the memory of each refusal.
func BenchmarkAbuse(b *testing.B) {
	s := apitest.Serve(b, testkit.SQLiteWorld(b), door)
	for _, a := range catalogue() {
		b.Run(a.name, func(b *testing.B) {
			as := s.A.Member
			if a.as == "owner" {
				as = s.A.Owner
			}
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			for b.Loop() {
				s.Send(b, apitest.Scenario{As: as, Method: http.MethodPost, Path: "/graphql", Body: a.body})
			}
			runtime.GC()
			runtime.ReadMemStats(&after)
			b.ReportMetric(float64(int64(after.HeapAlloc)-int64(before.HeapAlloc)), "B-kept")
		})
	}
}
