package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
)

// workload is one kind of request, as bytes to send.
type workload struct {
	name     string
	note     string
	against  string // what the product is compared with: "floor", or "REST" for GraphQL
	requests [2][][]byte
	status   int
	bound    float64 // least ratio of the product's rate to that of the other server
}

// The query strings of the lists of 20 requests. The floor looks its statements up by them.
const (
	listNewest   = "status=PENDING&sort=-createdAt&pageSize=20"
	listPriority = "status=PENDING,IN_PROGRESS&sort=-priority&pageSize=20"
	graphEdges   = `{"query":"{ requests(first: 20, filter: {status: PENDING}) { totalCount edges { node { id title status priority createdAt service { id name } offering { id name } creator { id name } } } } }"}`
)

// workloads returns the workloads in the order in which they run: reads first, so that they see only the seeded rows.
func workloads(w *world) []workload {
	t := &w.Main
	var gets [][]byte
	for _, id := range t.sample {
		gets = append(gets, request(t, "GET", "/v1/requests/"+id, ""))
	}
	creates := t.creates()
	list := func(query string) [][]byte { return [][]byte{request(t, "GET", "/v1/requests?"+query, "")} }
	edges := [2][][]byte{{request(t, "POST", "/graphql", graphEdges)}, list("status=PENDING&pageSize=20")}
	out := []workload{
		{"get", "by id", "floor", [2][][]byte{gets, gets}, 200, 0.8},
		{"list", listNewest + ", exact total; the floor without a total", "floor", [2][][]byte{list(listNewest), list(listNewest)}, 200, 0.65},
		{"list-priority", listPriority + ", exact total; the floor without a total", "floor", [2][][]byte{list(listPriority), list(listPriority)}, 200, 0.65},
		{"edges", "GraphQL's list of 20 with service, offering and creator over REST's list", "REST", edges, 200, 0.6},
		{"create", "half with a form of five fields, half without; one commit each on the floor", "floor", [2][][]byte{creates, creates}, 201, 1.2},
	}
	if w.Dialect == "postgres" {
		out[4].note, out[4].bound = "half with a form of five fields, half without; the floor in one round trip", 0.75
	}
	return out
}

// creates returns creates for each offering of the company.
func (t *tenant) creates() (out [][]byte) {
	for _, s := range t.Services {
		for _, body := range []string{createBody(s.ID, s.Plain, `{}`), createBody(s.ID, s.Formed, formFields)} {
			out = append(out, request(t, "POST", "/v1/requests", body))
		}
	}
	return out
}

func createBody(serviceID, offeringID, fields string) string {
	return `{"serviceId":"` + serviceID + `","offeringId":"` + offeringID + `","title":"A laptop for the new colleague","description":"` + description + `","priority":"HIGH","fields":` +
		fields + `,"tags":{"site":"berlin","channel":"portal"}}`
}

// request renders an HTTP request with the tenant's API key.
func request(t *tenant, method, target, body string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: localhost\r\nUser-Agent: atrium-bench/1\r\nAccept: application/json\r\nX-Api-Key: %s\r\n", method, target, t.Key)
	if body != "" {
		fmt.Fprintf(&b, "Content-Type: application/json\r\nContent-Length: %d\r\n", len(body))
	}
	b.WriteString("\r\n" + body)
	return b.Bytes()
}

// result is the outcome of a workload for the product and for the other server.
type result struct {
	workload
	sides  [2]side
	ratios []float64 // one for each pair of slices
}

// measure runs slices of the two servers in alternating order: A B, B A, A B, ….
func measure(ctx context.Context, o options, w *world, wl workload, servers [2]*server) (result, error) {
	res := result{workload: wl}
	var loads [2]*load
	for i := range loads {
		l, err := dial(ctx, w, servers[i], connections)
		if err != nil {
			return res, err
		}
		defer l.close() //nolint:gocritic // there are two
		loads[i] = l
		var body bytes.Buffer
		if err := l.conns[0].call(wl.requests[i][0], wl.status, &body); err != nil {
			return res, err
		}
		if bytes.Contains(body.Bytes(), []byte(`"errors"`)) { // GraphQL errors have status 200, too
			return res, errors.New("it answers with errors")
		}
		if _, err := l.slice(wl.requests[i], wl.status, o.slice/2); err != nil { // warms the server up
			return res, err
		}
	}
	for n := range o.slices {
		var rates [2]float64
		for k := range 2 {
			i := (k + n) % 2
			before := w.backends(ctx)
			r, err := loads[i].slice(wl.requests[i], wl.status, o.slice)
			if err != nil {
				return res, err
			}
			rates[i] = r.rate()
			res.sides[i].add(r, w.backends(ctx)-before)
		}
		res.ratios = append(res.ratios, rates[0]/rates[1])
	}
	return res, nil
}
