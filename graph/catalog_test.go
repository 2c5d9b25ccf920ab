package graph_test

import (
	"testing"

	"atrium/internal/apitest"
)

func TestSlice(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		a := ask(t, s, s.A.Owner, `mutation($in: CreateServiceInput!) { createService(input: $in) { service { id name description tags status createdAt } } }`,
			vars{"in": vars{"name": "IT", "tags": vars{"a": "b"}}})
		t.Log(pretty(a.Body))
		a = ask(t, s, s.A.Owner, `{ services(first: 2, filter: {status: [active], tag: {a: "b"}}, orderBy: {field: name, direction: DESC}) { totalCount pageInfo { hasNextPage endCursor } edges { cursor node { id name offerings { totalCount edges { node { id service { name } } } } } } } }`, nil)
		t.Log(pretty(a.Body))
		a = send(t, s, s.A.Owner, `mutation($in: CreateServiceInput!) { createService(input: $in) { service { id } } }`, vars{"in": vars{"nam": "IT", "tags": vars{"a": 1}}})
		t.Log(pretty(a.Body))
		a = send(t, s, s.A.Owner, `mutation($in: CreateServiceInput!) { createService(input: $in) { service { id } } }`, vars{"in": vars{"name": "IT", "tags": vars{"a": 1}}})
		t.Log(pretty(a.Body))
		a = send(t, s, s.A.Member, `mutation { createService(input: {name: "x"}) { service { id } } }`, nil)
		t.Log(pretty(a.Body))
		a = send(t, s, s.A.Member, `{ service(id: "svc_x") { id nam } }`, nil)
		t.Log(pretty(a.Body))
		a = send(t, s, s.A.Member, `{ service(id: "svc_x") { id } node(id: "off_1") { id } services(first: 101) { totalCount } }`, nil)
		t.Log(pretty(a.Body))
	})
}
