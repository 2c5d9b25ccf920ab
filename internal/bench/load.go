package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// workload is one kind of request, as bytes on the wire.
type workload struct {
	name     string
	requests [][]byte
	floor    [][]byte // the floor's own; nil for the same
	status   int
	bound    float64 // least ratio of product to floor; 0 for none
	note     string
}

// Names in the order they run: reads first, so that they see the seeded rows.
func names() []string {
	return []string{"get", "list", "list-priority", "list-service", "create", "create-statements", "page", "doors"}
}

func workloads(w *world) []workload {
	t := &w.Main
	var gets, services, creates, plain [][]byte
	for _, id := range t.sample {
		gets = append(gets, request(t, "GET", "/v1/requests/"+id, ""))
	}
	for _, s := range t.Services {
		services = append(services, request(t, "GET", "/v1/requests?status=PENDING&serviceId="+s.ID+"&sort=-createdAt&pageSize=20", ""))
		for _, body := range []string{createBody(s.ID, s.Plain, `{}`), createBody(s.ID, s.Formed, formFields)} {
			creates = append(creates, request(t, "POST", "/v1/requests", body))
			plain = append(plain, request(t, "POST", "/v1/requests?plain", body))
		}
	}
	create := 1.0
	if w.Dialect == "postgres" {
		create = 0.7
	}
	out := []workload{
		{name: "get", requests: gets, status: 200, bound: 0.7, note: "by id"},
		{name: "list", status: 200, bound: 0.5, note: "status=PENDING&sort=-createdAt, exact total; the floor without a total",
			requests: [][]byte{request(t, "GET", "/v1/requests?status=PENDING&sort=-createdAt&pageSize=20", "")}},
		{name: "list-priority", status: 200, bound: 0.5, note: "two statuses, sort=-priority, exact total; the floor without a total",
			requests: [][]byte{request(t, "GET", "/v1/requests?status=PENDING,IN_PROGRESS&sort=-priority&pageSize=20", "")}},
		{name: "list-service", status: 200, bound: 0.5, note: "status and serviceId: a total that no counter keeps; the floor without a total", requests: services},
		{name: "create", requests: creates, status: 201, bound: create, note: "half with a form of five fields, half without"},
	}
	if w.Dialect == "postgres" {
		out[4].note += "; the floor in one round trip"
		out = append(out, workload{name: "create-statements", requests: creates, floor: plain, status: 201, bound: create,
			note: "the same; the floor with BEGIN, set_config, three INSERTs, COMMIT, one round trip each"})
	}
	return out
}

func createBody(serviceID, offeringID, fields string) string {
	return `{"serviceId":"` + serviceID + `","offeringId":"` + offeringID + `","title":"A laptop for the new colleague","description":"Please have a look at this when there is time; it is not the first one of its kind.","priority":"HIGH","fields":` +
		fields + `,"tags":{"site":"berlin","channel":"portal"}}`
}

// request renders a request of the tenant's key.
func request(t *tenant, method, target, body string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: localhost\r\nUser-Agent: atrium-bench/1\r\nAccept: application/json\r\nX-Api-Key: %s\r\n", method, target, t.Key)
	if body != "" {
		fmt.Fprintf(&b, "Content-Type: application/json\r\nContent-Length: %d\r\n", len(body))
	}
	b.WriteString("\r\n" + body)
	return b.Bytes()
}

// load is a set of open connections to one server.
type load struct {
	server *server
	conns  []*conn
}

type conn struct {
	tls  *tls.Conn
	in   *bufio.Reader
	next int // index of the next request, so that connections do not walk in step
}

func dial(ctx context.Context, w *world, s *server, n int) (*load, error) {
	pem, err := os.ReadFile(w.CA)
	if err != nil {
		return nil, fmt.Errorf("read the CA: %w", err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	d := tls.Dialer{Config: &tls.Config{RootCAs: roots, ServerName: "localhost", NextProtos: []string{"http/1.1"}, MinVersion: tls.VersionTLS13}}
	l := &load{server: s}
	for i := range n {
		c, err := d.DialContext(ctx, "tcp", s.address)
		if err != nil {
			return nil, fmt.Errorf("dial %s: %w", s.name, err)
		}
		tc, _ := c.(*tls.Conn)
		l.conns = append(l.conns, &conn{tls: tc, in: bufio.NewReaderSize(tc, 32<<10), next: i * 7919})
	}
	return l, nil
}

func (l *load) close() {
	for _, c := range l.conns {
		_ = c.tls.Close()
	}
}

// sliceResult is what one slice of load showed.
type sliceResult struct {
	took      time.Duration
	cpu       time.Duration // of the server's process
	latencies []time.Duration
}

func (r sliceResult) rate() float64 { return float64(len(r.latencies)) / r.took.Seconds() }

// slice loads the server for d; every answer must have the status.
func (l *load) slice(requests [][]byte, status int, d time.Duration) (sliceResult, error) {
	results := make([][]time.Duration, len(l.conns))
	errs := make([]error, len(l.conns))
	before, began := cpuTime(l.server.pid), time.Now()
	var wg sync.WaitGroup
	for i, c := range l.conns {
		wg.Go(func() {
			for at := time.Now(); at.Sub(began) < d; {
				c.next++
				if errs[i] = c.call(requests[c.next%len(requests)], status, nil); errs[i] != nil {
					return
				}
				now := time.Now()
				results[i] = append(results[i], now.Sub(at))
				at = now
			}
		})
	}
	wg.Wait()
	r := sliceResult{took: time.Since(began), cpu: cpuTime(l.server.pid) - before, latencies: slices.Concat(results...)}
	if err := errors.Join(errs...); err != nil {
		return r, fmt.Errorf("%s: %w", l.server.name, err)
	}
	return r, nil
}

// call sends one request and reads its answer, the body into w unless that is nil.
func (c *conn) call(request []byte, status int, w io.Writer) error {
	if _, err := c.tls.Write(request); err != nil {
		return fmt.Errorf("send: %w", err)
	}
	line, err := c.in.ReadSlice('\n')
	if err != nil {
		return fmt.Errorf("read the status: %w", err)
	}
	if len(line) < 12 {
		return fmt.Errorf("not a status: %q", line)
	}
	got, err := strconv.Atoi(string(line[9:12]))
	if err != nil {
		return fmt.Errorf("not a status: %q", line)
	}
	length := -1
	for {
		if line, err = c.in.ReadSlice('\n'); err != nil {
			return fmt.Errorf("read the headers: %w", err)
		}
		if line = bytes.TrimRight(line, "\r\n"); len(line) == 0 {
			break
		}
		const name = "Content-Length: "
		if len(line) > len(name) && line[0] == 'C' && string(line[:len(name)]) == name {
			if length, err = strconv.Atoi(string(line[len(name):])); err != nil {
				return fmt.Errorf("read the length: %w", err)
			}
		}
	}
	if length < 0 {
		return errors.New("an answer without Content-Length")
	}
	if got != status {
		body := make([]byte, length)
		_, _ = io.ReadFull(c.in, body)
		return fmt.Errorf("status %d instead of %d: %s", got, status, strings.TrimSpace(string(body)))
	}
	if w != nil {
		_, err = io.CopyN(w, c.in, int64(length))
	} else {
		_, err = c.in.Discard(length)
	}
	if err != nil {
		return fmt.Errorf("read the body: %w", err)
	}
	return nil
}

// side is what one of the two servers did in all slices of a workload.
type side struct {
	rates     []float64
	requests  int
	cpu       time.Duration
	database  time.Duration
	latencies []time.Duration
}

func (s *side) add(r sliceResult, database time.Duration) {
	s.rates = append(s.rates, r.rate())
	s.requests += len(r.latencies)
	s.cpu += r.cpu
	s.database += database
	s.latencies = append(s.latencies, r.latencies...)
}

// perRequest returns a duration's share of one request, in µs.
func (s *side) perRequest(d time.Duration) float64 {
	return float64(d.Microseconds()) / float64(max(1, s.requests))
}

func (s *side) percentile(p float64) time.Duration {
	slices.Sort(s.latencies)
	if len(s.latencies) == 0 {
		return 0
	}
	return s.latencies[int(p*float64(len(s.latencies)-1))]
}

// result is a workload's outcome; sides[0] is the product (or the small company), sides[1] the floor (or the big one).
type result struct {
	workload
	sides  [2]side
	ratios []float64 // of each pair of slices
}

// measure alternates slices: A B, B A, A B, ….
func measure(ctx context.Context, o options, w *world, wl workload, product, floor *server) (result, error) {
	own := wl.floor
	if own == nil {
		own = wl.requests
	}
	return alternate(ctx, o, w, wl, [2]*server{product, floor}, [2][][]byte{wl.requests, own})
}

func alternate(ctx context.Context, o options, w *world, wl workload, servers [2]*server, requests [2][][]byte) (result, error) {
	res := result{workload: wl}
	var loads [2]*load
	defer func() {
		for _, l := range loads {
			if l != nil {
				l.close()
			}
		}
	}()
	for i := range loads {
		l, err := dial(ctx, w, servers[i], o.conns)
		if err != nil {
			return res, err
		}
		loads[i] = l
		if _, err := l.slice(requests[i], wl.status, o.slice/2); err != nil { // warms it up
			return res, err
		}
	}
	for n := range o.slices {
		var rates [2]float64
		for k := range 2 {
			i := (k + n) % 2
			before := w.backends(ctx)
			r, err := loads[i].slice(requests[i], wl.status, o.slice)
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

// median returns the middle value; values are sorted by it.
func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	slices.Sort(values)
	n := len(values)
	return (values[(n-1)/2] + values[n/2]) / 2
}
