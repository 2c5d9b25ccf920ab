package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/netip"
	"os"
	"text/tabwriter"
	"time"

	"atrium/ent/agentrun"
	"atrium/ent/execution"
	"atrium/ent/webhookdelivery"
	"atrium/internal/agent"
	"atrium/internal/desk/catalog"
	"atrium/internal/desk/search"
	"atrium/internal/op"
	"atrium/internal/op/events"
	"atrium/internal/platform/egress"
	"atrium/internal/platform/store"
	"atrium/internal/webhook"
	"atrium/internal/webhook/inbound"
	"atrium/internal/workflow"
)

// part is something that a company can switch on, and that a created request then sets going.
type part string

const (
	aWorkflow part = "workflow"
	aWebhook  part = "webhook"
	anAgent   part = "agent"
)

// everythings are the companies of the table "everything on".
var everythings = [...][]part{{aWorkflow}, {aWebhook}, {anAgent}, {aWorkflow, aWebhook, anAgent}}

// loopback is where the receiver of deliveries listens.
const loopback = "127.0.0.0/8"

// smallWorkflow is one of four phases that completes its request, as most workflows are of this size.
const smallWorkflow = `{"phases":[{"id":"start","type":"START"},{"id":"data","type":"DATA","config":{"kind":"enrich","set":{"n":"1"}}},` +
	`{"id":"choose","type":"DECISION","config":{"rules":[{"when":"phases.data.n == 1","transition":"next"}],"default":"lost"}},{"id":"done","type":"END"}],` +
	`"transitions":[{"from":"start","name":"next","to":"data"},{"from":"data","name":"next","to":"choose"},{"from":"choose","name":"next","to":"done"},{"from":"choose","name":"lost","to":"done"}]}`

// everything measures creates through `atrium serve` in companies with a workflow, a webhook and an intake agent over creates in a
// company with none, and the rate at which the work that follows from them is done; and calls of an inbound webhook.
func everything(ctx context.Context, o options, dialect string) (err error) {
	o.rows = min(o.rows, 20_000)
	progress("%s: seeding %d requests", dialect, o.rows)
	w, err := newWorld(ctx, o, dialect)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	if o.binary, err = o.atrium(ctx, w.Dir); err != nil {
		return err
	}
	sink, closeSink, err := newSink(w)
	if err != nil {
		return err
	}
	defer closeSink()
	e, closeEngine, err := w.engine(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeEngine()) }()
	if err := search.NewIndexer(e.Store, e.Log).Write(ctx); err != nil { // else the server would begin with it
		return err
	}
	if e.Egress, err = egress.New(egress.Options{Allow: []netip.Prefix{netip.MustParsePrefix(loopback)}}); err != nil {
		return err
	}
	s, err := startProduct(ctx, o, w, "--egress-allow", loopback, "--egress-ca", w.CA)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()

	t := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Printf("\n%s, `atrium serve`: creates with parts of the product on over plain ones, and the work that follows from them\n", w.Dialect)
	_, _ = fmt.Fprintln(t, "on\taccepted/s\tplain/s\tratio\tdone/s\tCPU ms each, all its work\tdatabase ms\tof plain\tdatabase")
	for i, parts := range everythings {
		b := &w.Others[i]
		for _, p := range parts {
			if err := b.turnOn(ctx, e, p, sink); err != nil {
				return fmt.Errorf("%s: %w", p, err)
			}
		}
		name := fmt.Sprint(parts)
		progress("%s: create with %s", w.Dialect, name)
		if err := b.beside(ctx, o, w, s, e, t, name, b.creates(), 201); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	progress("%s: inbound calls", w.Dialect)
	call := request(&w.Main, "POST", inbound.Path(w.Others[0].inbound), `{"title":"A laptop"}`)
	if err := w.Others[0].beside(ctx, o, w, s, e, t, "inbound calls", [][]byte{call}, 202); err != nil {
		return fmt.Errorf("inbound calls: %w", err)
	}
	return t.Flush()
}

// beside loads the server with calls of the company and with plain creates in turns, waits after each turn until all work is done, and
// prints a line.
func (t *tenant) beside(ctx context.Context, o options, w *world, s *server, e *op.Engine, out io.Writer, name string, calls [][]byte, answer int) error {
	var sides [2]side
	var ratios, done []float64
	l, err := dial(ctx, w, s, connections)
	if err != nil {
		return err
	}
	defer l.close()
	status, requests := [2]int{answer, 201}, [2][][]byte{calls, w.Main.creates()}
	for n := range o.slices + 1 {
		var rates [2]float64
		for k := range 2 {
			i := (k + n) % 2
			cpu, database, began := cpuTime(s.pid), w.backends(ctx), time.Now()
			r, err := l.slice(requests[i], status[i], o.slice)
			if err != nil {
				return err
			}
			if err := t.drained(ctx, e.Store); err != nil {
				return err
			}
			r.cpu = cpuTime(s.pid) - cpu
			if n == 0 { // the first turn warms the server up
				continue
			}
			rates[i] = r.rate()
			sides[i].add(r, w.backends(ctx)-database)
			if i == 0 {
				done = append(done, float64(len(r.latencies))/time.Since(began).Seconds())
			}
		}
		if n > 0 {
			ratios = append(ratios, rates[0]/rates[1])
		}
	}
	ms := func(s *side, d time.Duration) float64 { return s.perRequest(d) / 1000 }
	_, _ = fmt.Fprintf(out, "%s\t%.0f\t%.0f\t%.2f\t%.0f\t%.2f\t%.2f\t%.2f\t%.2f\n", name, median(sides[0].rates), median(sides[1].rates), median(ratios), median(done),
		ms(&sides[0], sides[0].cpu), ms(&sides[0], sides[0].database), ms(&sides[1], sides[1].cpu), ms(&sides[1], sides[1].database))
	return nil
}

// turnOn makes a part in the company.
func (t *tenant) turnOn(ctx context.Context, e *op.Engine, p part, sink string) error {
	ctx = t.asOwner(ctx)
	switch p {
	case aWebhook:
		_, _, err := op.Run(ctx, e, webhook.CreateSubscription, webhook.CreateSubscriptionInput{URL: sink, Events: []string{events.RequestCreated}}, nil)
		return err
	case anAgent:
		a, _, err := op.Run(ctx, e, agent.Create, agent.CreateInput{Name: "Intake", Type: "QUEUE_INTAKE", Source: "MANAGED", Autonomy: "SUGGEST"}, nil)
		if err != nil {
			return err
		}
		_, _, err = op.Run(ctx, e, agent.Publish, op.ByID{ID: a.ID}, nil)
		return err
	}
	wf, _, err := op.Run(ctx, e, workflow.CreateWorkflow, workflow.CreateWorkflowInput{Name: "Small", Definition: workflow.NewDefinition([]byte(smallWorkflow))}, nil)
	if err != nil {
		return err
	}
	if _, _, err := op.Run(ctx, e, workflow.PublishWorkflow, op.ByID{ID: wf.ID}, nil); err != nil {
		return err
	}
	for _, s := range t.Services {
		for _, offering := range []string{s.Plain, s.Formed} {
			in := catalog.UpdateOfferingInput{ByID: op.ByID{ID: offering}, WorkflowID: op.SetTo(wf.ID)}
			if _, _, err := op.Run(ctx, e, catalog.UpdateOffering, in, nil); err != nil {
				return err
			}
		}
	}
	in, _, err := op.Run(ctx, e, inbound.CreateWebhook, inbound.CreateWebhookInput{Name: "Small", WorkflowID: wf.ID, VerifySignature: new(bool)}, nil)
	t.inbound = in.ID
	return err
}

// drained waits until the company has no work left.
func (t *tenant) drained(ctx context.Context, s *store.Store) error {
	ctx = t.asOwner(ctx)
	for range 1200 {
		r := s.Reader()
		running, err := r.Execution.Query().Where(execution.StatusIn(execution.StatusRUNNING, execution.StatusWAITING)).Count(ctx)
		if err != nil {
			return fmt.Errorf("count executions: %w", err)
		}
		pending, err := r.WebhookDelivery.Query().Where(webhookdelivery.OutcomeEQ(webhookdelivery.OutcomePENDING)).Count(ctx)
		if err != nil {
			return fmt.Errorf("count deliveries: %w", err)
		}
		runs, err := r.AgentRun.Query().Where(agentrun.StatusIn(agentrun.StatusQUEUED, agentrun.StatusRUNNING)).Count(ctx)
		if err != nil {
			return fmt.Errorf("count runs: %w", err)
		}
		if running+pending+runs == 0 {
			return nil
		}
		time.Sleep(20 * time.Millisecond)
	}
	return errors.New("its work is not done after 24 s")
}

// newSink answers deliveries, at the URL that it returns.
func newSink(w *world) (string, func(), error) {
	cert, err := tls.LoadX509KeyPair(w.Cert, w.Key)
	if err != nil {
		return "", nil, fmt.Errorf("read the certificate: %w", err)
	}
	ln, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS13})
	if err != nil {
		return "", nil, fmt.Errorf("listen: %w", err)
	}
	srv := &http.Server{ReadHeaderTimeout: 10 * time.Second, ErrorLog: log.New(io.Discard, "", 0), Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNoContent)
	})}
	go func() { _ = srv.Serve(ln) }() // ends with Close
	return "https://" + ln.Addr().String(), func() { _ = srv.Close() }, nil
}
