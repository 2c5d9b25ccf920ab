package execution

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/riverqueue/river"
	"go.opentelemetry.io/otel/trace"

	"atrium/ent"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/egress"
	"atrium/internal/platform/jobs"
	"atrium/internal/platform/share"
	"atrium/internal/workflow/definition"
	"atrium/internal/workflow/engine"
)

const (
	workerName = "workflow engine" // its name in audit entries
	steppers   = 16                // steps that a node runs at once
	maxTries   = 20                // of one job, each after another commit on the execution
	maxInputs  = 50                // inputs that one commit uses
)

// bulkSteppers is how many bulk steps a node runs at once. They wait for the database more than they compute, so there are twice as many
// as processors.
func bulkSteppers() int { return 2 * runtime.GOMAXPROCS(0) }

// Options are a runner's dependencies.
type Options struct {
	Engine *op.Engine
	Egress *egress.Client       // makes the calls of phases
	Traces trace.TracerProvider // nil for the process's default
}

// Runner works the jobs of executions. A process has one.
type Runner struct {
	Options
	tracer   trace.Tracer
	calling  *calling
	outcomes *share.Places // of outcomes of calls that commit
	large    *share.Places // of steps over large documents
}

// New returns a runner.
func New(o Options) *Runner {
	half := max(1, runtime.GOMAXPROCS(0)/2) // of the processors stay free for other steps
	return &Runner{o, tracerOf(o.Traces), newCalling(), share.New(half, max(1, half/2)), share.New(half, 1)}
}

// Work makes a job queue run executions.
func (r *Runner) Work() jobs.Option {
	return jobs.All(jobs.NamedQueue(queueName, steppers), jobs.NamedQueue(bulkQueue, bulkSteppers()), jobs.NamedQueue(callQueue, callers),
		jobs.Work(&stepper{r: r}), jobs.Work(&caller{r: r}), jobs.Work(&noticeWorker{r: r}), jobs.Work(&breachWorker{r: r}))
}

// stepper works the jobs of steps.
type stepper struct {
	river.WorkerDefaults[StepArgs]
	r *Runner
}

// NextRetry comes soon; see retryAt.
func (*stepper) NextRetry(job *river.Job[StepArgs]) time.Time { return retryAt(job.Attempt) }

// retryAt returns when a job that failed is tried again: within half a minute at first, because a request waits for it, then once
// an hour, because somebody has to repair what lasts so long. River's own schedule grows with the fourth power of the attempts, and
// each node that dies takes one: after four of them a failed statement would delay an execution by ten minutes.
func retryAt(attempt int) time.Time {
	wait := time.Hour
	if attempt <= 20 {
		wait = min(time.Duration(attempt*attempt)*time.Second, 30*time.Second)
	}
	return time.Now().Add(wait)
}

// Work continues the execution as far as possible. An error means that this node failed or that the definition can no longer
// be read; River then tries the job again.
func (s *stepper) Work(ctx context.Context, job *river.Job[StepArgs]) error {
	_, st := s.r.begin(ctx, job.Args.Execution, job.Args.Cause)
	return s.r.advance(ctx, st, job.Args.Company, job.Args.Execution, nil)
}

// errMoved is returned by a commit when another commit came after the load.
var errMoved = errors.New("the execution has moved since it was read")

// advance loads, computes and commits until a commit succeeds. given is an input that no row holds, such as the outcome of a call.
func (r *Runner) advance(ctx context.Context, st step, company, id string, given engine.Input) error {
	ctx = r.Engine.Reading(ctx, company, workerName)
	p := pending{given: given}
	for range maxTries {
		row, err := rowOf(ctx, r.Engine.Store.Reader(), id)
		if err != nil || row == nil {
			return err
		}
		leave, free := r.turn(row, p.given != nil)
		if !free {
			return river.JobSnooze(largeWait)
		}
		again, err := r.once(ctx, st, row, &p)
		leave()
		if !again {
			return err
		}
	}
	return fmt.Errorf("step %s: %w", id, errMoved)
}

// Steps over large documents take tens of milliseconds of a processor for each mebibyte, which a company's calls of its inbound webhooks
// may bring many of at once.
const (
	largeStep = 32 << 10               // bytes of an execution's documents from which its steps are large
	largeWait = 100 * time.Millisecond // until a large step tries again to get its turn
)

// turn returns whether a step may be taken now, and the function that ends it. Of a company's large steps one is taken at a time, and of
// all companies' half as many as there are processors; outcomes of calls have places of their own.
func (r *Runner) turn(row *ent.Execution, outcome bool) (leave func(), free bool) {
	n := len(row.State) + len(row.Webhook) + len(row.Input)
	if row.Edges.Request != nil {
		n += len(row.Edges.Request.Fields)
	}
	if outcome || n < largeStep {
		return func() {}, true
	}
	return r.large.TakeNow(row.CompanyID)
}

// pending is what a step applies besides what the database holds.
type pending struct {
	given  engine.Input // an input that no row holds; nil for none
	single bool         // one input alone, since the request has refused what came of several
}

// once loads, computes and commits. It reports whether it must be done again, because the execution has moved meanwhile, or because the
// request has refused the step, which in then says.
func (r *Runner) once(ctx context.Context, st step, row *ent.Execution, in *pending) (again bool, err error) {
	now := r.Engine.Store.Clock().Now()
	l, err := loadRow(ctx, r.Engine.Store.Reader(), row, now)
	if err != nil || l == nil {
		return false, err
	}
	if in.given != nil {
		l.inputs = []engine.Input{in.given}
	}
	if in.single && len(l.inputs) > 1 {
		l.inputs, l.rest = l.inputs[:1], true
	}
	if l.files() {
		switch l.refused, err = r.file(ctx, l, in.given != nil); {
		case errors.Is(err, errMoved), errors.Is(err, op.ErrOutdated), err == nil && l.refused == nil:
			return true, nil // load it again, with its request
		case err != nil:
			return false, err
		}
	}
	if early := l.early(now); early > 0 && len(l.inputs) == 0 {
		return false, river.JobSnooze(early)
	}
	var p *plan
	err = r.fair(ctx, row.CompanyID, in.given != nil, func(ctx context.Context) (err error) {
		p, err = l.compute(ctx, r.Engine.Store.Reader(), now)
		return err
	})
	if err != nil || p == nil {
		return false, err
	}
	if err := r.hide(ctx, p); err != nil {
		return false, err
	}
	err = r.commit(ctx, p)
	switch {
	case err == nil:
		r.committed(st, p)
		return false, nil
	case errors.Is(err, errMoved), errors.Is(err, op.ErrOutdated):
		return true, nil
	case isRefusal(err) && p.touchesRequest() && l.state.Visit != nil:
		// The request refuses the phase's change, because of its form or its status. An incident asks people to look at
		// it.
		if in.single = len(l.inputs) > 1 && l.state.Block != nil; in.single {
			return true, nil // to find the branch whose input it refuses
		}
		in.given = engine.Stuck{Visit: l.blamed(), Code: engine.RequestConflict, Message: apperr.From(err).Message, Again: true}
		return true, nil
	}
	return false, err
}

// blamed returns the visit that gets an incident when the request refuses what came of the inputs: that which they name. If a block goes on
// by itself, it is the first of its branches that does.
func (l *loaded) blamed() int {
	own := l.state.Visit.Number
	if l.state.Block == nil || len(l.inputs) == 0 {
		return own
	}
	if visit := engine.VisitOf(l.inputs[0]); visit != own {
		return visit
	}
	for _, at := range l.state.Open() {
		if at.Status == engine.Running && at.Visit != nil {
			return at.Visit.Number
		}
	}
	return own
}

// Time limits for the expressions of one commit together: quickEval while any number of executions compute at once, turnEval
// as the company's costly work. Expressions of an ordinary definition take microseconds.
const (
	quickEval = 5 * time.Millisecond
	turnEval  = time.Second
	busyWait  = time.Second // until a step tries again to get its company's turn
)

// fair runs work, which evaluates a customer's expressions. If they exceed quickEval, it runs work again as the company's
// costly work, so that a company with slow definitions delays only itself. With wait it waits for the turn, because no row
// holds the input. Without, the job snoozes, so that it occupies no worker that other companies need.
func (r *Runner) fair(ctx context.Context, company string, wait bool, work func(context.Context) error) error {
	quick, budget := definition.WithBudget(ctx, quickEval)
	if err := work(quick); !budget.Over {
		return err
	}
	whole := func(ctx context.Context) error {
		ctx, _ = definition.WithBudget(ctx, turnEval)
		return work(ctx)
	}
	if wait {
		return r.Engine.Costly(ctx, company, whole)
	}
	ran, err := r.Engine.CostlyNow(ctx, company, whole)
	if !ran {
		return river.JobSnooze(busyWait)
	}
	return err
}

// mostSkew is how far this node's clock may be behind the database's, by which River starts jobs.
const mostSkew = 5 * time.Minute

// early returns how long the execution still has to wait, if that is so short that the job snoozes for it: there is no other job for a
// wait within ShortWait, and this may be the job of a longer one, started by a clock that is ahead of ours. 0 otherwise.
func (l *loaded) early(now time.Time) time.Duration {
	var first time.Duration
	for _, at := range l.state.Open() {
		if at.Wait == nil || at.Wait.Until == nil || at.Wait.For == engine.ForCall {
			continue
		}
		if left := at.Wait.Until.Sub(now); left > 0 && left < mostSkew && (first == 0 || left < first) {
			first = left
		}
	}
	return first
}

// compute applies the inputs. Returns nil when none of them changes anything.
func (l *loaded) compute(ctx context.Context, db *ent.Client, now time.Time) (*plan, error) {
	env, err := l.env(ctx, db, now)
	if err != nil {
		return nil, err
	}
	env.Most = l.most
	p := &plan{row: l.row, was: l.state, state: l.state, request: l.request, d: l.d, sample: l.sample}
	for _, in := range l.inputs[:min(len(l.inputs), maxInputs)] {
		if err := p.apply(ctx, l, in, &env); err != nil {
			return nil, errors.Join(ctx.Err(), fmt.Errorf("step %s: %w", l.row.ID, err))
		}
	}
	env.Most = 1 // what follows from what is missing may open further phases, which the next commit looks at
	for {
		stuck, err := p.missing(ctx, db, l.approvals)
		if err != nil {
			return nil, err
		}
		if stuck == nil {
			break
		}
		res, err := engine.Step(ctx, p.d, p.state, *stuck, env)
		if err != nil {
			return nil, fmt.Errorf("step %s: %w", l.row.ID, err)
		}
		p.add(res)
	}
	if !p.changed() {
		return nil, nil // no input has arrived
	}
	p.more = p.more || l.rest
	return p, nil
}

// apply takes a step by an input. One that comes too late changes nothing.
func (p *plan) apply(ctx context.Context, l *loaded, in engine.Input, env *engine.Env) error {
	d, version, res, err := p.d, p.version, engine.Result{}, error(nil)
	stuck := engine.Stuck{Visit: engine.VisitOf(in), Code: codeNoWay, Message: "The phase has no such way out.", Again: true}
	if in, ok := in.(engine.Move); ok {
		d, version = l.target.d, l.target.version
		if why := immovable(p.d, d, p.state, in.Visit, d.Phase(in.PhaseID)); why != "" {
			stuck.Message, err = why, engine.ErrNoWay
		}
	}
	if err == nil {
		res, err = engine.Step(ctx, d, p.state, in, *env)
	}
	switch {
	case errors.Is(err, engine.ErrStale), errors.Is(err, engine.ErrNotTheirTurn):
		return nil
	case errors.Is(err, engine.ErrNoWay): // the operations have checked the way out, but the row cannot be used nevertheless
		res, err = engine.Step(ctx, p.d, p.state, stuck, *env)
	default:
		p.d, p.version = d, version
	}
	if err != nil {
		return err
	}
	env.Request = res.Request
	p.add(res)
	return nil
}

// codeNoWay is the code of an incident about an outcome for which the phase has no transition.
const codeNoWay = "no_transition"
