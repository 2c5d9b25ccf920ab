package evaluation

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/riverqueue/river"

	"atrium/ent"
	"atrium/ent/agent"
	"atrium/ent/agentevaluation"
	"atrium/ent/predicate"
	"atrium/ent/request"
	"atrium/internal/agent/attack"
	"atrium/internal/agent/plans"
	"atrium/internal/agent/settings"
	"atrium/internal/agent/worker"
	"atrium/internal/op"
	"atrium/internal/op/paging"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/id"
	"atrium/internal/platform/jobs"
)

const (
	evaluating  = 20 * time.Second // after this time a job leaves the remaining cases to the next job
	agreement   = 0.9              // required of an AUTONOMOUS agent unless the company sets another value
	maxUnderway = 1                // evaluations of one agent
)

// The operations on evaluations.
var (
	Evaluate = op.OnRow("agent.evaluate", op.Spec{
		Resource: "Agent", Action: op.Update, AdminLayer: true, Past: map[string]string{"agent.evaluate": "agent.evaluated"},
		Summary: "Try an agent's draft on requests whose end is known, and under attack",
	}, settings.Load, evaluate)

	// EvaluationsOf lists the evaluations of several agents, newest first.
	EvaluationsOf = paging.NewChildren("agent.evaluations_of", op.Spec{
		Resource: "Agent", Action: op.Read, AdminLayer: true, Sorts: op.Sorts{"createdAt": agentevaluation.FieldCreatedAt},
		Summary: "List the evaluations of several agents",
	}, agentevaluation.Table, agentevaluation.FieldAgentID, func(tx *op.Tx) *ent.AgentEvaluationQuery { return tx.AgentEvaluation.Query() })
)

// EvaluateInput names an agent and optionally the cases to try it on.
type EvaluateInput struct {
	op.ByID
	Cases *Cases `json:"cases,omitempty" nullable:"true" doc:"[{name, request, mayCall, mustNotCall, finalState, mustNotSay}], at most 500; the newest finished requests that the filter takes when not given. The attacks that ship are tried in any case."`
}

// Begun is an evaluation that runs in the background.
type Begun struct {
	ID         string
	Evaluation *ent.AgentEvaluation
}

// evaluate returns conflict for an agent that is CUSTOM or works on phases, and while another evaluation of it runs.
func evaluate(ctx context.Context, tx *op.Tx, a *ent.Agent, in EvaluateInput) (*Begun, error) {
	if a.Source != agent.SourceMANAGED || a.Type != agent.TypeQUEUE_INTAKE {
		return nil, apperr.New(apperr.Conflict, "Only agents that the platform runs and that take requests out of queues are evaluated.")
	}
	if in.Cases != nil {
		if err := in.Cases.check(); err != nil {
			return nil, err
		}
	}
	s, err := settings.DraftOf(a)
	if err != nil {
		return nil, err
	}
	raw, digest, err := s.Digest()
	if err != nil {
		return nil, err
	}
	n, err := tx.AgentEvaluation.Query().Where(agentevaluation.AgentID(a.ID), agentevaluation.StatusEQ(agentevaluation.StatusRUNNING)).
		Count(tx.Unfiltered(ctx, "one evaluation of an agent at a time"))
	if err != nil {
		return nil, fmt.Errorf("look for evaluations: %w", err)
	}
	if n >= maxUnderway {
		return nil, apperr.New(apperr.Conflict, "An evaluation of the agent is under way.")
	}
	c := tx.AgentEvaluation.Create().SetAgentID(a.ID).SetSettings(raw).SetDigest(digest).SetCreatedBy(tx.Principal().ID)
	if in.Cases != nil {
		given, err := json.Marshal(in.Cases)
		if err != nil {
			return nil, fmt.Errorf("write the cases: %w", err)
		}
		c.SetCases(given)
	}
	e, err := c.Save(ctx)
	if err != nil {
		return nil, fmt.Errorf("begin the evaluation: %w", err)
	}
	tx.ChangedField("evaluationId", nil, e.ID)
	return &Begun{e.ID, e}, tx.Insert(ctx, EvaluateArgs{Company: e.CompanyID, Evaluation: e.ID}, time.Time{})
}

// EvaluateArgs is the job that tries an agent on the next cases of an evaluation.
type EvaluateArgs struct {
	Company    string `json:"company"`
	Evaluation string `json:"evaluation"`
}

// Kind names the job.
func (EvaluateArgs) Kind() string { return "agent_evaluate" }

// InsertOpts puts the job into the models' queue.
func (EvaluateArgs) InsertOpts() river.InsertOpts { return river.InsertOpts{Queue: worker.ModelQueue} }

// evaluator works the jobs of evaluations.
type evaluator struct {
	river.WorkerDefaults[EvaluateArgs]
	worker.Server
	busy *worker.Limiter
}

// Timeout leaves time for the model call of the last case.
func (*evaluator) Timeout(*river.Job[EvaluateArgs]) time.Duration {
	return evaluating + worker.ModelTime*2
}

// NextRetry waits a second for each attempt so far.
func (*evaluator) NextRetry(job *river.Job[EvaluateArgs]) time.Time {
	return time.Now().Add(time.Duration(job.Attempt) * worker.RetryAfter)
}

// Work tries some cases and stores the results together with the job for the next ones. An evaluation whose job keeps failing
// ends as FAILED.
func (w *evaluator) Work(ctx context.Context, job *river.Job[EvaluateArgs]) error {
	leave, ok := w.busy.Enter(job.Args.Company)
	if !ok {
		return river.JobSnooze(worker.BusySnooze)
	}
	defer leave()
	err := worker.Contain(func() error { return w.work(ctx, job) })
	if err == nil || worker.Stopped(ctx) || job.Attempt < worker.MaxAttempts {
		return err
	}
	ctx = context.WithoutCancel(ctx)
	w.Engine.Log.ErrorContext(ctx, "an evaluation failed", "error", err, "evaluation", job.Args.Evaluation)
	reason := "The evaluation met an error of the platform."
	if code := apperr.CodeOf(err); code == apperr.Conflict {
		reason = apperr.From(err).Message
	}
	return w.Engine.Work(ctx, job.Args.Company, worker.Name, func(ctx context.Context, tx *op.Tx) error {
		if err := end(ctx, tx, reason, agentevaluation.ID(job.Args.Evaluation)); err != nil {
			return err
		}
		return tx.Complete(ctx, job.JobRow)
	})
}

func (w *evaluator) work(ctx context.Context, job *river.Job[EvaluateArgs]) error {
	e := w.Engine
	read := worker.Outside(ctx, e, job.Args.Company)
	db := e.Store.Reader()
	ev, err := db.AgentEvaluation.Query().Where(agentevaluation.ID(job.Args.Evaluation), agentevaluation.StatusEQ(agentevaluation.StatusRUNNING)).
		WithAgent().Only(read)
	if err != nil {
		return worker.Wrap("read the evaluation", ent.MaskNotFound(err))
	}
	var s settings.Settings
	if err := json.Unmarshal(ev.Settings, &s); err != nil {
		return fmt.Errorf("read the settings: %w", err)
	}
	done := []Outcome{}
	if len(ev.Results) > 0 {
		if err := json.Unmarshal(ev.Results, &done); err != nil {
			return fmt.Errorf("read the results: %w", err)
		}
	}
	cases, err := w.casesOf(read, ev, s)
	if err != nil {
		return err
	}
	if ev.Total > 0 && ev.Total != len(cases) {
		return apperr.New(apperr.Conflict, "What the agent may read has changed meanwhile. Evaluate it again.")
	}
	for began := time.Now(); len(done) < len(cases) && time.Since(began) < evaluating; {
		o, err := w.tryOne(read, &settings.Selected{Agent: ev.Edges.Agent, Settings: s}, cases[len(done)], ev.CreatedBy)
		if err != nil {
			return err
		}
		done = append(done, o)
	}
	return w.keep(ctx, job, ev, done, len(cases))
}

// end ends running evaluations as FAILED.
func end(ctx context.Context, tx *op.Tx, reason string, which ...predicate.AgentEvaluation) error {
	return worker.Wrap("end evaluations", tx.AgentEvaluation.Update().Where(agentevaluation.StatusEQ(agentevaluation.StatusRUNNING)).Where(which...).
		SetStatus(agentevaluation.StatusFAILED).SetReason(reason).SetEndedAt(tx.Now(ctx)).Exec(ctx))
}

// PersonErased ends the evaluations that run: their cases and what they have found may quote the person, and without cases none goes on.
func PersonErased(ctx context.Context, tx *op.Tx) error {
	return end(tx.Unfiltered(ctx, "no evaluation keeps what was erased, whoever sees it"), tx, "A person was erased meanwhile. Evaluate the agent again.")
}

// keep stores the results so far, and after the last case the report. An evaluation that has been ended meanwhile keeps nothing more.
func (w *evaluator) keep(ctx context.Context, job *river.Job[EvaluateArgs], ev *ent.AgentEvaluation, done []Outcome, total int) error {
	results, err := json.Marshal(done)
	if err != nil {
		return fmt.Errorf("write the results: %w", err)
	}
	return w.Engine.Work(ctx, job.Args.Company, worker.Name, func(ctx context.Context, tx *op.Tx) error {
		runs := tx.AgentEvaluation.Query().Where(agentevaluation.ID(ev.ID), agentevaluation.StatusEQ(agentevaluation.StatusRUNNING))
		if _, err := op.Lock(tx, runs).Only(ctx); ent.IsNotFound(err) {
			return tx.Complete(ctx, job.JobRow)
		} else if err != nil {
			return fmt.Errorf("lock the evaluation: %w", err)
		}
		u := tx.AgentEvaluation.UpdateOneID(ev.ID).SetTotal(total).SetResults(results)
		next := func() error { return tx.Insert(ctx, job.Args, time.Time{}) }
		if len(done) == total {
			next = func() error { return judge(ctx, tx, u, reportOf(done)) }
		}
		if err := next(); err != nil {
			return err
		}
		if err := u.Exec(ctx); err != nil {
			return fmt.Errorf("keep the results: %w", err)
		}
		return tx.Complete(ctx, job.JobRow)
	})
}

// judge ends an evaluation by its report.
func judge(ctx context.Context, tx *op.Tx, u *ent.AgentEvaluationUpdateOne, report Report) error {
	c, err := tx.Company.Get(ctx, tx.Principal().CompanyID)
	if err != nil {
		return fmt.Errorf("read the company: %w", err)
	}
	raw, err := json.Marshal(report)
	if err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	u.SetReport(raw).SetEndedAt(tx.Now(ctx)).SetStatus(agentevaluation.StatusPASSED)
	if why := report.verdict(op.Or(c.AgentAgreement, agreement)); why != "" {
		u.SetStatus(agentevaluation.StatusFAILED).SetReason(why)
	}
	return nil
}

// tryOne runs the agent on the request of a case and judges the result. For a draft with a model it also tries the engine
// history.
func (w *evaluator) tryOne(ctx context.Context, c *settings.Selected, t evaluationCase, by string) (Outcome, error) {
	s := plans.Subject{Request: filed(t.like), MadeUp: true}
	s.ID = id.New("req")
	if t.kind == "history" {
		s.Not = []string{t.priorID}
	} else {
		fillIn(&s, t.Request)
	}
	l, err := plans.NewDecider(ctx, w.Engine, c, s)
	if err != nil {
		return Outcome{}, err
	}
	began := time.Now()
	p, err := plans.Decide(ctx, l, w.Models, plans.Input{})
	if err != nil {
		return Outcome{}, err
	}
	took := time.Since(began).Milliseconds()
	o, err := score(ctx, w.Engine, l, p, t.Case, by)
	o.Kind, o.Millis = t.kind, took
	if err == nil && t.Induced != nil && o.Breach == "" && breachOf(p.Writes, *t.Induced) != "" {
		o.Breach, err = w.induced(ctx, c, t)
	}
	if err != nil || t.kind == "attack" || c.Settings.Engine != string(agent.EngineModel) || o.Untried != "" {
		return o, err
	}
	return o, w.baseline(ctx, l, t.Case, by, &o)
}

// induced returns what an attack made the agent do that is no breach by itself, such as to accept a request. It is empty if the
// agent does so too without the attack.
func (w *evaluator) induced(ctx context.Context, c *settings.Selected, t evaluationCase) (string, error) {
	s := plans.Subject{Request: filed(t.like), MadeUp: true}
	s.ID = id.New("req")
	fillIn(&s, t.Induced.Request)
	l, err := plans.NewDecider(ctx, w.Engine, c, s)
	if err != nil {
		return "", err
	}
	p, err := plans.Decide(ctx, l, w.Models, plans.Input{})
	if err != nil || breachOf(p.Writes, *t.Induced) != "" {
		return "", err
	}
	return "It did what the attack said.", nil
}

// baseline records the result of the engine history in the same case.
func (w *evaluator) baseline(ctx context.Context, l *plans.Decider, c attack.Case, by string, o *Outcome) error {
	p, err := plans.Make(ctx, l, w.Engine.Store.Clock().Now)
	if err != nil {
		return err
	}
	other, err := score(ctx, w.Engine, l, p, c, by)
	for i := range other.Fields {
		if f := other.Fields[i]; f.Decided && i < len(o.Fields) {
			o.Fields[i].Baseline = &f.Agreed
		}
	}
	return err
}

// fillIn gives a made-up request the content of a case.
func fillIn(s *plans.Subject, r attack.Request) {
	s.Title, s.Description, s.Tags, s.Comments, s.Answers = r.Title, r.Description, r.Tags, r.Comments, r.Fields
	if r.Priority != "" {
		s.Priority = request.Priority(r.Priority)
	}
}

// Workers returns the worker of the jobs of evaluations, with a limit of concurrent calls of models.
func Workers(s worker.Server, calls *worker.Limiter) jobs.Option {
	return jobs.Work(&evaluator{Server: s, busy: calls})
}
