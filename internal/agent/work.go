package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"atrium/ent"
	"atrium/ent/agent"
	"atrium/ent/agentaction"
	"atrium/ent/agentrun"
	"atrium/ent/request"
	"atrium/internal/agent/interrupt"
	"atrium/internal/apperr"
	"atrium/internal/clock"
	"atrium/internal/jobs"
	"atrium/internal/op"
	"atrium/internal/principal"
	"atrium/internal/text"
)

const (
	workerName  = "agents"
	workers     = 4 // workers of the agents' queue on each node
	enders      = 2 // workers of the queue of the deadlines on each node
	maxAttempts = 4 // for a run that fails with an error
	retryAfter  = time.Second
	answerTime  = 72 * time.Hour // that people have to decide about an action
	maxReason   = 1000           // characters
)

// Queues lists the queues of the agents' jobs, which wait where no node works agents' runs.
var Queues = []string{interrupt.QueueName, thinkQueue, pushQueue}

// Work registers the workers of the agents' jobs. out sends pushes to CUSTOM agents; nil sends none.
func (d *Door) Work(out Caller) jobs.Option {
	e := d.engine
	r, b := &runner{engine: e, out: out, models: d.models}, &companyLimiter{}
	return jobs.All(jobs.NamedQueue(interrupt.QueueName, workers), jobs.NamedQueue(interrupt.DeadlineQueue, enders), jobs.NamedQueue(thinkQueue, thinkers), jobs.NamedQueue(pushQueue, pushers),
		jobs.Work(&thinker{runner: r, busy: b}), jobs.Work(&evaluator{runner: r, busy: b}),
		jobs.Work(&intake{engine: e}), jobs.Work(r), jobs.Work(&phaser{runner: r}), jobs.Work(&consultEnder{engine: e}), jobs.Work(&expirer{engine: e}), jobs.Work(&leaser{engine: e}),
		jobs.Work(&tasker{engine: e}), jobs.Work(&releaser{engine: e}), jobs.Work(&pusher{runner: r, busy: &companyLimiter{}}))
}

// outside returns the context in which a worker reads outside of transactions.
func outside(ctx context.Context, e *op.Engine, company string) context.Context {
	return clock.With(principal.With(ctx, principal.Worker(company, workerName)), e.Store.Clock())
}

// intake works the jobs that find the agent for a new request.
type intake struct {
	river.WorkerDefaults[IntakeArgs]
	engine *op.Engine
}

// NextRetry is soon, because somebody waits for the request.
func (*intake) NextRetry(*river.Job[IntakeArgs]) time.Time { return time.Now().Add(retryAfter) }

// Work begins the run and completes the job in one transaction.
func (w *intake) Work(ctx context.Context, job *river.Job[IntakeArgs]) error {
	a := job.Args
	read := outside(ctx, w.engine, a.Company)
	r, err := w.engine.Store.Reader().Request.Get(read, a.Request)
	if err != nil {
		return wrap("read the request", ent.MaskNotFound(err))
	}
	c, err := choose(read, w.engine.Store.Reader(), r)
	if err != nil || c == nil {
		return err
	}
	return w.engine.Work(ctx, a.Company, workerName, func(ctx context.Context, tx *op.Tx) error {
		if _, err := op.Lock(tx, tx.Request.Query().Where(request.ID(r.ID))).OnlyID(ctx); err != nil {
			return fmt.Errorf("lock the request: %w", err)
		}
		begun, err := tx.AgentRun.Query().Where(agentrun.RequestID(r.ID)).Exist(ctx)
		if err != nil {
			return fmt.Errorf("look for the request's runs: %w", err)
		}
		if !begun {
			if _, err := begin(ctx, tx, c, r, agentrun.TriggerCreated); err != nil {
				return err
			}
		}
		return tx.Complete(ctx, job.JobRow)
	})
}

// runner works the jobs that take runs to their end.
type runner struct {
	river.WorkerDefaults[interrupt.RunArgs]
	engine *op.Engine
	out    Caller
	models Models
}

// NextRetry is soon, because a run must end within half a minute.
func (*runner) NextRetry(*river.Job[interrupt.RunArgs]) time.Time { return time.Now().Add(retryAfter) }

// Work plans outside of any transaction, and ends the run and its job in one. A run whose work is refused is handed over, and one
// that keeps failing ends as FAILED.
func (w *runner) Work(ctx context.Context, job *river.Job[interrupt.RunArgs]) error {
	err := w.work(ctx, job)
	as, reason := agentrun.StatusHANDED_OVER, refusedWork(err)
	switch {
	case err == nil || stopped(ctx):
		return err
	case reason != "":
	case job.Attempt < maxAttempts:
		return err
	default:
		w.engine.Log.ErrorContext(ctx, "an agent's run failed", "error", err, "run", job.Args.Run)
		as, reason = agentrun.StatusFAILED, "The agent met an error of the platform."
	}
	return w.finish(context.WithoutCancel(ctx), job.JobRow, job.Args, "", func(ctx context.Context, tx *op.Tx, run *ent.AgentRun, _ *ent.Request) error {
		return end(ctx, tx, run, as, reason)
	})
}

// refusedWork returns the reason of a run that is handed over because an operation refused it: another attempt would be refused as
// well. It is empty for all other errors.
func refusedWork(err error) string {
	told, ok := errors.AsType[*apperr.Error](err)
	if !ok || told.Code != apperr.Forbidden && told.Code != apperr.Validation || errors.Unwrap(told) != nil {
		return "" // an error with a cause is no decision, such as of policies that could not be read
	}
	reason := "The agent was refused: " + told.Message
	for _, d := range told.Details {
		reason += fmt.Sprintf(" %s %s.", d.Field, d.Message)
	}
	return text.Short(reason, maxReason-1)
}

// stopped reports whether a job ends because its process stops, so that another node continues it. A job that exceeded its
// timeout has failed, and must still record that.
func stopped(ctx context.Context) bool { return errors.Is(ctx.Err(), context.Canceled) }

func (w *runner) work(ctx context.Context, job *river.Job[interrupt.RunArgs]) error {
	run, err := w.start(ctx, job)
	if err != nil || run == nil {
		return err
	}
	if run.Edges.Agent.Source == agent.SourceCUSTOM {
		return w.pushRun(ctx, job.JobRow, run)
	}
	l, err := w.decisionContext(outside(ctx, w.engine, run.CompanyID), run)
	if err != nil {
		return err
	}
	if l.settings.Engine == string(agent.EngineModel) && l.self != nil {
		return w.think(ctx, job.JobRow, run)
	}
	p, err := makePlan(l.read, l, w.engine.Store.Clock().Now)
	if err != nil {
		return err
	}
	return w.finish(ctx, job.JobRow, job.Args, p.version, func(ctx context.Context, tx *op.Tx, run *ent.AgentRun, r *ent.Request) error {
		if err := keepTurn(ctx, tx, run, 0, p.given); err != nil {
			return err
		}
		return conclude(ctx, tx, run, r, l.settings, p)
	})
}

// decisionContext reads the subject and the settings of a run.
func (w *runner) decisionContext(read context.Context, run *ent.AgentRun) (*decisionContext, error) {
	db := w.engine.Store.Reader()
	r, err := db.Request.Get(read, run.RequestID)
	if err != nil {
		return nil, fmt.Errorf("read the request: %w", err)
	}
	s, err := published(read, db, run.AgentID, run.AgentVersion)
	if err != nil {
		return nil, err
	}
	about := subject{Request: r, asked: run.Trigger == agentrun.TriggerConsulted}
	if run.TaskID != nil {
		if about.task, err = db.Task.Get(read, *run.TaskID); err != nil {
			return nil, fmt.Errorf("read the task: %w", err)
		}
	}
	l, err := newDecisionContext(read, w.engine, &selectedAgent{run.Edges.Agent, s}, about)
	if err != nil {
		return nil, err
	}
	l.earlier, err = earlierIn(read, db, run)
	return l, err
}

// start sets a run RUNNING and returns it. It completes the job and returns nil if there is nothing to do: the run has ended or
// waits for a person, or its agent is paused, in which case resuming the agent queues the run again.
func (w *runner) start(ctx context.Context, job *river.Job[interrupt.RunArgs]) (*ent.AgentRun, error) {
	var out *ent.AgentRun
	err := w.engine.Work(ctx, job.Args.Company, workerName, func(ctx context.Context, tx *op.Tx) error {
		out = nil
		run, err := op.Lock(tx, tx.AgentRun.Query().Where(agentrun.ID(job.Args.Run))).WithAgent().Only(ctx)
		if ent.IsNotFound(err) {
			return tx.Complete(ctx, job.JobRow)
		}
		if err != nil {
			return fmt.Errorf("read the run: %w", err)
		}
		idle := run.Status != agentrun.StatusQUEUED && run.Status != agentrun.StatusRUNNING
		if idle || run.Edges.Agent.Status == agent.StatusPAUSED {
			return tx.Complete(ctx, job.JobRow)
		}
		if run.Status == agentrun.StatusQUEUED {
			reason := ""
			if run.LeaseUntil == nil { // otherwise a CUSTOM agent has this plan already
				if reason, err = overBudget(ctx, tx, run); err != nil {
					return err
				}
			}
			if reason != "" {
				if err := end(ctx, tx, run, agentrun.StatusHANDED_OVER, reason); err != nil {
					return err
				}
				return tx.Complete(ctx, job.JobRow)
			}
			if run.Edges.Agent.Source == agent.SourceCUSTOM {
				out = run
				return wait(ctx, tx, run)
			}
			edges := run.Edges
			if run, err = run.Update().SetStatus(agentrun.StatusRUNNING).AddPlans(1).Save(ctx); err != nil {
				return fmt.Errorf("start the run: %w", err)
			}
			run.Edges = edges // Ent does not copy them to the updated row
		} else if run.Edges.Agent.Source == agent.SourceCUSTOM {
			return tx.Complete(ctx, job.JobRow) // the agent works on it already
		}
		out = run
		return nil
	})
	return out, err
}

// wait starts the lease in which a CUSTOM agent must make its first call: shorter after a push than for an agent that polls. A
// job that runs again after its node died pushes again but does not extend the lease.
func wait(ctx context.Context, tx *op.Tx, run *ent.AgentRun) error {
	if run.LeaseUntil != nil && tx.Now(ctx).Before(*run.LeaseUntil) {
		return nil
	}
	until := tx.Now(ctx).Add(leaseTime)
	if run.Edges.Agent.EndpointURL != "" {
		until = tx.Now(ctx).Add(firstCallTimeout)
	}
	u := run.Update().SetLeaseUntil(until)
	if run.LeaseUntil == nil { // a run that waited for a paused agent begins the same plan again
		u.AddPlans(1)
		run.Plans++
	}
	if err := u.Exec(ctx); err != nil {
		return fmt.Errorf("have the run wait for its agent: %w", err)
	}
	return tx.Insert(ctx, LeaseArgs{Company: run.CompanyID, Run: run.ID}, until)
}

// finish runs fn on a run that is RUNNING, and completes the job in the same transaction. A run that was stopped meanwhile stays
// as it is, and so does one whose agent was paused: resuming the agent queues it again. A run whose request has changed since version is planned again.
func (w *runner) finish(ctx context.Context, job *rivertype.JobRow, args interrupt.RunArgs, version string,
	fn func(context.Context, *op.Tx, *ent.AgentRun, *ent.Request) error,
) error {
	return w.engine.Work(ctx, args.Company, workerName, func(ctx context.Context, tx *op.Tx) error {
		run, r, err := lockRun(ctx, tx, args.Run)
		if ent.IsNotFound(err) || err == nil && (run.Status != agentrun.StatusRUNNING || run.Edges.Agent.Status == agent.StatusPAUSED) {
			return tx.Complete(ctx, job)
		}
		if err != nil {
			return err
		}
		is, err := interrupt.Version(r)
		if err != nil {
			return err
		}
		if version != "" && is != version {
			if err := planAnew(ctx, tx, run); err != nil {
				return err
			}
			return tx.Complete(ctx, job)
		}
		if err := fn(ctx, tx, run, r); err != nil {
			return err
		}
		return tx.Complete(ctx, job)
	})
}

// planAnew queues a run again whose request has changed since it was planned.
func planAnew(ctx context.Context, tx *op.Tx, run *ent.AgentRun) error {
	if err := run.Update().SetStatus(agentrun.StatusQUEUED).Exec(ctx); err != nil {
		return fmt.Errorf("have the run plan anew: %w", err)
	}
	return tx.Insert(ctx, interrupt.RunArgs{Company: run.CompanyID, Run: run.ID}, time.Time{})
}

// lockRun holds the agent of a run as it is, and locks the run after its request. All code locks the three in this order. The run
// comes with its agent. Writes of many runs hold an agent together; pausing it waits for them, and those that follow see it PAUSED.
func lockRun(ctx context.Context, tx *op.Tx, id string) (*ent.AgentRun, *ent.Request, error) {
	ctx = tx.Unfiltered(ctx, "a run is locked together with its request")
	run, err := tx.AgentRun.Query().Where(agentrun.ID(id)).Only(ctx)
	if err != nil {
		return nil, nil, err
	}
	a, err := op.Share(tx, tx.Agent.Query().Where(agent.ID(run.AgentID))).Only(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("hold the run's agent: %w", err)
	}
	r, err := op.Lock(tx, tx.Request.Query().Where(request.ID(run.RequestID))).Only(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("lock the request: %w", err)
	}
	if run, err = op.Lock(tx, tx.AgentRun.Query().Where(agentrun.ID(id))).Only(ctx); err != nil {
		return nil, nil, err
	}
	run.Edges.Agent = a
	return run, r, nil
}

// conclude stores or performs the writes of a plan.
func conclude(ctx context.Context, tx *op.Tx, run *ent.AgentRun, r *ent.Request, s settings, p *plan) error {
	run, err := keepSteps(ctx, run, p)
	if err != nil {
		return err
	}
	switch {
	case run.TaskID == nil && r.Status != request.StatusPENDING:
		return end(ctx, tx, run, agentrun.StatusHANDED_OVER, "The request does not wait any more.")
	case len(p.writes) == 0:
		return end(ctx, tx, run, agentrun.StatusHANDED_OVER, p.reason)
	case run.TaskID != nil:
		return concludeTask(ctx, tx, run, s, p)
	}
	var waits []write
	for _, w := range p.writes {
		if s.Autonomy != string(agent.AutonomyAUTONOMOUS) || s.kindIn(run) == agentaction.KindPROPOSAL || w.Waits {
			waits = append(waits, w)
		}
	}
	if len(waits) > 0 { // before the agent acts, which then has them depend on what it leaves
		if err := storeActions(ctx, tx, run, s, p, waits, run.RequestID, p.version); err != nil {
			return err
		}
	} else if err := end(ctx, tx, run, agentrun.StatusCOMPLETED, ""); err != nil {
		return err
	}
	if len(waits) < len(p.writes) {
		return actAlone(ctx, tx, run, p)
	}
	return nil
}

// storeActions stores writes for people to decide about: as proposals or as waiting actions. version is the version of the row subject.
func storeActions(ctx context.Context, tx *op.Tx, run *ent.AgentRun, s settings, p *plan, writes []write, subject, version string) error {
	kind := s.kindIn(run)
	for _, w := range writes {
		if _, err := propose(ctx, tx, run, kind, p.stepOf(w), w, subject, version); err != nil {
			return err
		}
	}
	if kind == agentaction.KindPROPOSAL {
		return end(ctx, tx, run, agentrun.StatusPROPOSED, "")
	}
	return wrap("have the run wait", run.Update().SetStatus(agentrun.StatusWAITING).Exec(ctx))
}

// keepSteps stores the steps of a run so far, and its use of the model.
func keepSteps(ctx context.Context, run *ent.AgentRun, p *plan) (*ent.AgentRun, error) {
	steps, err := json.Marshal(p.steps)
	if err != nil {
		return nil, fmt.Errorf("write the steps: %w", err)
	}
	after, err := run.Update().SetSteps(steps).SetModelCalls(p.used.Calls).SetInputTokens(p.used.Input).SetOutputTokens(p.used.Output).Save(ctx)
	return after, wrap("keep the steps", err)
}

// actAlone performs the writes of an AUTONOMOUS agent that need no approval, in the transaction that ends its run. Those that wait
// then depend on the request as it is afterwards.
func actAlone(ctx context.Context, tx *op.Tx, run *ent.AgentRun, p *plan) error {
	var err error
	version := p.version
	for _, w := range p.writes {
		if w.Waits {
			continue
		}
		if run, err = actNow(ctx, tx, run, p.self, p.stepOf(w), w, version); err != nil {
			return err
		}
		if version, err = versionNow(ctx, tx, run); err != nil {
			return err
		}
	}
	return rebase(ctx, tx, run)
}

// actNow performs a write on a run's request that needs no approval, as the agent, and records it as an APPLIED action and as a step
// of kind act. step is the step that decided it, version that of the row that it depends on.
func actNow(ctx context.Context, tx *op.Tx, run *ent.AgentRun, self *principal.Principal, step int, w write, version string) (*ent.AgentRun, error) {
	create, err := actionOf(tx, run, agentaction.KindACTION, step, w, run.RequestID, version)
	if err != nil {
		return nil, err
	}
	a, err := create.SetStatus(agentaction.StatusAPPLIED).Save(ctx)
	if err != nil {
		return nil, fmt.Errorf("keep what the agent does: %w", err)
	}
	self = self.Because(principal.Cause{RunID: run.ID, Step: step, ActionID: a.ID})
	all := tx.Unfiltered(ctx, "the row that was acted on is read back")
	if err := perform(all, tx.ActingAs(self), w.Tool, run.RequestID, w.Arguments); err != nil {
		return nil, err
	}
	return did(ctx, tx, run, a, "Done.")
}

// did records in the steps of a run that an action was done: in the step that asked for it, or in a new one of kind act.
func did(ctx context.Context, tx *op.Tx, run *ent.AgentRun, a *ent.AgentAction, result string) (*ent.AgentRun, error) {
	steps, err := StepsOf(run)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(steps, func(s *Step) bool { return s.N == a.Step && s.Kind == "act" })
	if i < 0 {
		i, steps = len(steps), append(steps, &Step{N: len(steps) + 1, Kind: "act", Operation: a.Operation, Rows: []string{subjectOf(run, a)}, Arguments: a.Arguments})
	}
	steps[i].Result, steps[i].At = result, tx.Now(ctx).UTC()
	raw, err := json.Marshal(steps)
	if err != nil {
		return nil, fmt.Errorf("write the steps: %w", err)
	}
	edges := run.Edges
	if run, err = run.Update().SetSteps(raw).Save(tx.Unfiltered(ctx, "a run tells what it did, whoever sees it")); err != nil {
		return nil, fmt.Errorf("keep the step: %w", err)
	}
	run.Edges = edges // Ent does not copy them to the updated row
	return run, nil
}

// versionNow returns the version of a run's request as the transaction has left it.
func versionNow(ctx context.Context, tx *op.Tx, run *ent.AgentRun) (string, error) {
	r, err := tx.Request.Get(tx.Unfiltered(ctx, "the request as the agent has changed it"), run.RequestID)
	if err != nil {
		return "", fmt.Errorf("read the request: %w", err)
	}
	return interrupt.Version(r)
}

// rebase has the pending actions of a run depend on its request as another action of the run has left it. People are shown the
// values as they are now, and approve the new digest.
func rebase(ctx context.Context, tx *op.Tx, run *ent.AgentRun) error {
	all := tx.Unfiltered(ctx, "what a run has asked for, whoever sees it")
	r, err := tx.Request.Get(all, run.RequestID)
	if err != nil {
		return fmt.Errorf("read the request: %w", err)
	}
	version, err := interrupt.Version(r)
	if err != nil {
		return err
	}
	list, err := tx.AgentAction.Query().Where(agentaction.RunID(run.ID), agentaction.StatusEQ(agentaction.StatusPENDING)).All(all)
	if err != nil {
		return fmt.Errorf("read the run's actions: %w", err)
	}
	for _, a := range list {
		if onTask(run, a) {
			continue
		}
		changes, err := ChangesOf(a)
		if err != nil {
			return err
		}
		is := valuesOf(r)
		for _, c := range changes {
			c.From = is[c.Field]
		}
		raw, err := json.Marshal(changes)
		if err != nil {
			return fmt.Errorf("write the changes: %w", err)
		}
		err = a.Update().SetChanges(raw).SetRowVersion(version).SetDigest(digestOf(a.Operation, subjectOf(run, a), a.Arguments, version)).Exec(all)
		if err != nil {
			return fmt.Errorf("keep the action: %w", err)
		}
	}
	return nil
}

// actionOf returns the action for a write on the row subject in a version, to be saved.
func actionOf(tx *op.Tx, run *ent.AgentRun, kind agentaction.Kind, step int, w write, subject, version string) (*ent.AgentActionCreate, error) {
	changes, err := json.Marshal(w.Changes)
	return tx.AgentAction.Create().SetRunID(run.ID).SetRequestID(run.RequestID).SetStep(step).SetKind(kind).
		SetOperation(w.Tool).SetArguments(w.Arguments).SetChanges(changes).SetRationale(w.Rationale).SetConfidence(w.Confidence).
		SetRows(w.Rows).SetDigest(digestOf(w.Tool, subject, w.Arguments, version)).SetRowVersion(version).
		SetShadow(run.Shadow), wrap("write the changes", err)
}

// propose stores the action for a write on the row subject in a version. An action that waits for an approval expires after 72
// hours.
func propose(ctx context.Context, tx *op.Tx, run *ent.AgentRun, kind agentaction.Kind, step int, w write, subject, version string) (*ent.AgentAction, error) {
	create, err := actionOf(tx, run, kind, step, w, subject, version)
	if err != nil {
		return nil, err
	}
	a, err := create.Save(ctx)
	if err != nil {
		return nil, fmt.Errorf("keep what the agent would do: %w", err)
	}
	if kind == agentaction.KindACTION {
		err = tx.Insert(ctx, ExpiryArgs{Company: run.CompanyID, Action: a.ID}, tx.Now(ctx).Add(answerTime))
	}
	return a, err
}

// end ends a run and makes its pending actions STALE, unless it ends as PROPOSED or COMPLETED. It releases the task of a run that
// has not completed it.
func end(ctx context.Context, tx *op.Tx, run *ent.AgentRun, as agentrun.Status, reason string) error {
	if err := run.Update().SetStatus(as).SetReason(reason).SetEndedAt(tx.Now(ctx)).Exec(ctx); err != nil {
		return fmt.Errorf("end the run: %w", err)
	}
	if run.TaskID != nil && run.Trigger != agentrun.TriggerConsulted && as != agentrun.StatusCOMPLETED {
		if err := tx.Insert(ctx, ReleaseArgs{Company: run.CompanyID, Run: run.ID}, time.Time{}); err != nil {
			return err
		}
	}
	if as == agentrun.StatusPROPOSED || as == agentrun.StatusCOMPLETED {
		return nil
	}
	err := tx.AgentAction.Update().Where(agentaction.RunID(run.ID), agentaction.StatusEQ(agentaction.StatusPENDING)).
		SetStatus(agentaction.StatusSTALE).Exec(ctx)
	return wrap("make the run's plans stale", err)
}

// ExpiryArgs is the job that expires an action without a decision.
type ExpiryArgs struct {
	Company string `json:"company"`
	Action  string `json:"action"`
}

// Kind names the job.
func (ExpiryArgs) Kind() string { return "agent_expiry" }

// InsertOpts puts the job into the queue of the deadlines.
func (ExpiryArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: interrupt.DeadlineQueue}
}

// expirer works the jobs that expire actions.
type expirer struct {
	river.WorkerDefaults[ExpiryArgs]
	engine *op.Engine
}

// Work expires an action without a decision, and hands its run over.
func (w *expirer) Work(ctx context.Context, job *river.Job[ExpiryArgs]) error {
	return w.engine.Work(ctx, job.Args.Company, workerName, func(ctx context.Context, tx *op.Tx) error {
		a, run, _, err := lockAction(ctx, tx, job.Args.Action)
		if ent.IsNotFound(err) || err == nil && a.Status != agentaction.StatusPENDING {
			return tx.Complete(ctx, job.JobRow)
		}
		if err != nil {
			return err
		}
		if err := a.Update().SetStatus(agentaction.StatusEXPIRED).Exec(ctx); err != nil {
			return fmt.Errorf("expire the action: %w", err)
		}
		if err := end(ctx, tx, run, agentrun.StatusHANDED_OVER, "Nobody decided within 72 hours."); err != nil {
			return err
		}
		return tx.Complete(ctx, job.JobRow)
	})
}
