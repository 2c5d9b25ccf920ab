package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"text/tabwriter"
)

// doorsBound is the least share of REST's list that GraphQL's may serve.
const doorsBound = 0.5

// The lists of 20 requests that GraphQL is asked for: REST's rows, and the rows with what they lead to.
const (
	graphRows  = `{"query":"{ requests(first: 20, filter: {status: PENDING}) { totalCount edges { node { id title status priority createdBy createdAt } } } }"}`
	graphEdges = `{"query":"{ requests(first: 20, filter: {status: PENDING}) { totalCount edges { node { id title status priority createdAt service { id name } offering { id name } creator { id name } } } } }"}`
)

// compareDoors compares GraphQL's list of 20 requests, with service, offering and creator and without them, with REST's
// list of the same requests: sides are GraphQL and REST.
func compareDoors(ctx context.Context, o options, w *world) (out []result, err error) {
	product, err := startProduct(ctx, o, w)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, product.stop()) }()
	rest := [][]byte{request(&w.Main, "GET", "/v1/requests?status=PENDING&pageSize=20", "")}
	for _, d := range []struct {
		name, query, note string
		bound             float64
	}{
		{"doors-rows", graphRows, "GraphQL's list without edges over REST's list", 0},
		{"doors-edges", graphEdges, "GraphQL's list with service, offering and creator over REST's list", doorsBound},
	} {
		progress("%s: %s", w.Dialect, d.name)
		graph := [][]byte{request(&w.Main, "POST", "/graphql", d.query)}
		if err := answered(ctx, w, product, graph[0]); err != nil {
			return nil, err
		}
		r, err := alternate(ctx, o, w, workload{name: d.name, requests: graph, status: 200, bound: d.bound, note: d.note},
			[2]*server{product, product}, [2][][]byte{graph, rest})
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}

// answered fails when GraphQL answers with errors, which are 200, too.
func answered(ctx context.Context, w *world, s *server, request []byte) error {
	l, err := dial(ctx, w, s, 1)
	if err != nil {
		return err
	}
	defer l.close()
	var body bytes.Buffer
	if err := l.conns[0].call(request, 200, &body); err != nil {
		return err
	}
	if bytes.Contains(body.Bytes(), []byte(`"errors"`)) || bytes.Count(body.Bytes(), []byte(`"node"`)) != 20 {
		return fmt.Errorf("GraphQL answers with something else: %.300s", body.Bytes())
	}
	return nil
}

// printDoors prints how much of REST's list GraphQL's serves.
func printDoors(results []result) (missed bool) {
	t := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(t, "list of 20\tGraphQL req/s\tREST req/s\tratio (min–max)\tbound\tok?\tp50 / p99 GraphQL\tp50 / p99 REST\tCPU µs/req GraphQL\tREST\tdatabase µs/req GraphQL\tREST")
	for i := range results {
		r := &results[i]
		a, b := &r.sides[0], &r.sides[1]
		ok := verdict(r.bound == 0 || median(r.ratios) >= r.bound, &missed)
		_, _ = fmt.Fprintf(t, "%s\t%.0f\t%.0f\t%s\t%s\t%s\t%s\t%s\t%.0f\t%.0f\t%.0f\t%.0f\n", r.name, median(a.rates), median(b.rates), spread(r.ratios),
			bound("≥", r.bound), ok, latencies(a), latencies(b), a.perRequest(a.cpu), b.perRequest(b.cpu), a.perRequest(a.database), b.perRequest(b.database))
	}
	_ = t.Flush()
	for i := range results {
		fmt.Printf("  %s: %s\n", results[i].name, results[i].note)
	}
	return missed
}
