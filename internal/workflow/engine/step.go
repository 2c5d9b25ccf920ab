package engine

import (
	"context"
	"fmt"
	"slices"
	"time"

	"atrium/internal/desk/sla"
	"atrium/internal/platform/text"
	"atrium/internal/workflow/definition"
)

// Env is what a step may read besides the state.
type Env struct {
	Now         time.Time
	ExecutionID string
	Request     map[string]any // as the API shows it; nil for none
	Webhook     map[string]any // body, headers, method, receivedAt; nil when no webhook started the execution
	Called      bool           // by another execution, which alone decides what becomes of the request
	Input       map[string]any // what that gave
	Refused     *Fault         // why the request that the execution should file was refused; nil if it was filed, or there is none
	Calendar    func(id string) (*sla.Calendar, error)
	Most        int // phases that the step enters; 0 for as many as a step may

	Ruled func(visit int, rulings []Ruling) // hears what the rules of DECISIONs gave; nil: nobody asks
}

// Result is the result of a step.
type Result struct {
	State   State
	History []Visit // visits that were started or changed, in order
	Effects []Effect
	More    bool // the step has entered as many phases as it may: Continue continues it

	Request map[string]any // Env's as the effects change it, for the next step of the same commit
}

// phase is the behaviour of a phase type. enter begins a visit; resume passes it an input that it waited for. Both
// end in leave, wait, raise or fail.
type phase interface {
	enter(r *run, p *definition.Phase)
	resume(r *run, p *definition.Phase, in Input) error
}

var phases = map[definition.Type]phase{
	definition.Start: startPhase{}, definition.Process: processPhase{}, definition.Decision: decisionPhase{},
	definition.Data: dataPhase{}, definition.Timer: timerPhase{}, definition.WebhookCallout: callPhase{},
	definition.APICall: callPhase{}, definition.Approval: approvalPhase{}, definition.End: endPhase{},
	definition.CallWorkflow: workflowPhase{},
	definition.InParallel:   blockPhase{}, definition.ForEach: blockPhase{}, definition.Join: joinPhase{},
}

// step is one step in progress, for the execution and all its branches.
type step struct {
	ctx     context.Context
	d       *definition.Definition
	env     Env
	history []Visit
	effects []Effect
	last    int // the number of the last visit
	entered int // phases that this step has entered
	most    int // phases that it may enter
}

// run is a step over one state: that of the execution, or of a branch in the block that up stands in.
type run struct {
	*step
	state  *State
	up     *run // nil for the execution
	branch *Branch
}

// Step advances an execution by one input, and then everything that can go on. Returns ErrStale, ErrNoWay or ErrNotTheirTurn for an
// input that changes nothing.
func Step(ctx context.Context, d *definition.Definition, s State, in Input, env Env) (Result, error) {
	after := s.clone()
	if after.Phases == nil {
		after.Phases = map[string]any{}
	}
	r := &run{step: &step{ctx: ctx, d: d, env: env, last: s.last(), most: maxPhases}, state: &after}
	if env.Most > 0 {
		r.most = min(r.most, env.Most)
	}
	if err := r.take(in); err != nil {
		return Result{}, err
	}
	r.advance()
	if after.Last = 0; after.Visit != nil && after.Visit.Number != r.last {
		after.Last = r.last
	}
	return Result{State: after, History: r.history, Effects: r.effects, More: after.Status == Running, Request: r.env.Request}, nil
}

// take dispatches the input to its handler.
func (r *run) take(in Input) error {
	switch in := in.(type) {
	case Begin:
		if r.state.Visit != nil || r.state.Status != "" {
			return ErrStale
		}
		return nil
	case Cancel:
		if r.state.Status.Final() {
			return ErrStale
		}
		r.cancel(in.Why)
		return nil
	}
	if r.state.Status.Final() || r.state.Visit == nil {
		return ErrStale
	}
	if in.visit() != r.state.Visit.Number {
		return r.takeInBranch(in)
	}
	if in, ok := in.(Move); ok {
		return r.move(in)
	}
	p := r.phase()
	if p == nil {
		return fmt.Errorf("the definition has no phase %s", r.state.Visit.PhaseID)
	}
	switch in := in.(type) {
	case Continue:
		if r.state.Status != Running || r.state.Block == nil && r.state.Visit.Transition == "" {
			return ErrStale
		}
		return nil
	case Retry:
		return r.retry(p, in)
	case Skip:
		return r.skip(p, in)
	case Stuck:
		return r.stop(in)
	}
	if r.state.Wait == nil || r.state.Wait.For == ForIncident {
		return ErrStale
	}
	return phases[p.Type].resume(r, p, in)
}

// phase returns the phase of the visit.
func (r *run) phase() *definition.Phase { return r.d.Phase(r.state.Visit.PhaseID) }

// advance goes on as far as this step may.
func (r *run) advance() {
	for {
		if r.state.Block != nil && !r.advanceBranches() {
			return
		}
		switch p := r.upcoming(); {
		case p == nil:
			return
		case r.up != nil && p == r.up.phase().Block.End:
			*r.state = State{Status: Completed, Phases: r.state.Phases}
			return
		case !r.may():
			return
		default:
			r.enter(p)
		}
	}
}

// may reports whether the step may enter one more phase.
func (r *run) may() bool {
	return r.entered == 0 || r.entered < r.most && !definition.Spent(r.ctx)
}

// upcoming returns the phase that comes next: the first one, or where the transition leads that the visit has taken. Nil for a state
// that waits or has ended.
func (r *run) upcoming() *definition.Phase {
	switch v := r.state.Visit; {
	case r.state.Status.Final():
		return nil
	case v == nil && r.up == nil:
		return r.d.Start
	case v == nil:
		return r.up.startOf(r.branch)
	case r.state.Status == Running:
		return r.phase().Follow(v.Transition)
	}
	return nil
}

// enter begins the visit of a phase.
func (r *run) enter(p *definition.Phase) {
	r.entered++
	r.last++
	r.state.Status, r.state.Wait = Running, nil
	r.state.Visit = &Visit{Number: r.last, PhaseID: p.ID, Type: p.Type, Status: Running, StartedAt: r.env.Now, Attempts: 1, Branch: r.path()}
	r.note()
	if r.last > MaxVisits {
		r.fail(TooManySteps, fmt.Sprintf("The execution has entered %d phases.", MaxVisits))
		return
	}
	r.begin(p)
}

// begin enters a phase, on the first attempt and on every Retry.
func (r *run) begin(p *definition.Phase) {
	if !r.actOnRequest(p) {
		return
	}
	r.tell(p, "consulted")
	phases[p.Type].enter(r, p)
}

// leave ends the visit by a transition, and stores its output under phases.<id>.
func (r *run) leave(p *definition.Phase, way string, output map[string]any) {
	if output != nil {
		r.state.Phases[p.ID] = output
		r.state.Visit.Output = output
		if r.tooLarge() {
			delete(r.state.Phases, p.ID)
			r.state.Visit.Output = nil
			return
		}
	} else if r.state.Phases[p.ID] == nil {
		r.state.Phases[p.ID] = map[string]any{}
	}
	r.state.Wait, r.state.Status = nil, Running
	r.finish(Completed, way)
	r.tell(p, "informed")
}

// tooLarge fails the execution if its variables, with those of all branches, are longer than they may be.
func (r *run) tooLarge() bool {
	if n, err := r.root().state.Size(); err == nil && n <= MaxVariables {
		return false
	}
	r.fail(VariablesTooLarge, fmt.Sprintf("The variables of the phases are longer than %d bytes.", MaxVariables))
	return true
}

// wait puts the visit into waiting.
func (r *run) wait(w Wait) {
	r.state.Status, r.state.Wait = Waiting, &w
	r.state.Visit.Status = Waiting
	r.note()
}

// stop makes the visit wait for people, unless it already does.
func (r *run) stop(in Stuck) error {
	switch waits := r.state.Wait != nil && r.state.Wait.For == ForIncident; {
	case !waits:
		r.closeBranches(nil)
		r.closeOpen()
	case in.Again:
		r.state.Visit.Attempts++ // distinguishes the incidents of a visit
	default:
		return ErrStale
	}
	r.raise(in.Code, in.Message)
	return nil
}

// raise makes the visit wait for people, with an incident. In a block with onFault cancel, the branch fails instead.
func (r *run) raise(code, message string) {
	if r.caught() {
		r.fail(code, message)
		return
	}
	f := Fault{PhaseID: r.state.Visit.PhaseID, Code: code, Message: clip(message)}
	r.state.Visit.Fault = &f
	w := Wait{For: ForIncident}
	if r.up != nil {
		w.Since = &r.env.Now
	}
	r.wait(w)
	r.effects = append(r.effects, OpenIncident{r.state.Visit.Number, f})
}

// failedExpression opens an incident about an expression that could not be evaluated.
func (r *run) failedExpression(what string, err error) {
	r.raise(ExpressionFailed, fmt.Sprintf("%s could not be evaluated: %v.", what, err))
}

// fail ends the execution, or the branch: see settle.
func (r *run) fail(code, message string) {
	f := Fault{PhaseID: r.state.Visit.PhaseID, Code: code, Message: clip(message)}
	r.state.Status, r.state.Wait, r.state.Fault = Failed, nil, &f
	r.state.Visit.Fault = &f
	r.finish(Failed, "")
}

func (r *run) cancel(why *Fault) {
	r.closeBranches(why)
	r.state.Status, r.state.Wait = Cancelled, nil
	if v := r.state.Visit; v != nil && v.FinishedAt == nil {
		r.closeOpen()
		v.cutOff(why)
		r.finish(Skipped, "")
	}
}

// closeOpen closes what the visit has open, and opens nothing of what this step would have opened for it.
func (r *run) closeOpen() {
	n := r.state.Visit.Number
	r.effects = slices.DeleteFunc(r.effects, func(e Effect) bool { return Opens(e, n) })
	r.effects = append(r.effects, CloseOpen{n})
}

// retry enters the phase of an incident again, in the same visit.
func (r *run) retry(p *definition.Phase, in Retry) error {
	if err := r.resolve(in.Variables); err != nil {
		return err
	}
	r.again(p)
	return nil
}

func (r *run) again(p *definition.Phase) {
	r.state.Status, r.state.Wait = Running, nil
	r.state.Visit.Status, r.state.Visit.Fault = Running, nil
	r.state.Visit.Attempts++
	r.note()
	r.begin(p)
}

// skip leaves the phase of an incident by next, or a DECISION by its default.
func (r *run) skip(p *definition.Phase, in Skip) error {
	way := p.Skip()
	if p.Follow(way) == nil {
		return ErrNoWay
	}
	if err := r.resolve(in.Variables); err != nil {
		return err
	}
	if p.Block != nil {
		r.state.Phases[p.Block.End.ID] = outcome(p, &Block{})
	}
	r.leave(p, way, nil)
	if !r.state.Status.Final() {
		r.state.Visit.Status = Skipped
		r.note()
	}
	return nil
}

// resolve closes the incident and applies the given variables.
func (r *run) resolve(variables map[string]any) error {
	if r.state.Wait == nil || r.state.Wait.For != ForIncident {
		return ErrStale
	}
	for id, v := range variables {
		if r.d.Phase(id) == nil {
			return fmt.Errorf("%w: %s is no phase", ErrNoWay, id)
		}
		r.state.Phases[id] = v
	}
	r.effects = append(r.effects, ResolveIncident{r.state.Visit.Number})
	return nil
}

// finish ends the visit.
func (r *run) finish(s Status, way string) {
	v := r.state.Visit
	v.Status, v.Transition = s, way
	v.FinishedAt = &r.env.Now
	r.note()
}

// note records the visit's current state in the history of this step.
func (r *run) note() {
	v := *r.state.Visit
	if i := slices.IndexFunc(r.history, func(o Visit) bool { return o.Number == v.Number }); i >= 0 {
		r.history[i] = v
		return
	}
	r.history = append(r.history, v)
}

// tell notifies the participants of a role.
func (r *run) tell(p *definition.Phase, role string) {
	if slices.ContainsFunc(p.Participants, func(one definition.Participant) bool { return one.Role == role }) {
		r.effects = append(r.effects, Tell{r.state.Visit.Number, p.Named(r.variables), role})
	}
}

// bind returns the variables for expressions.
func (r *run) bind() definition.Bound {
	return definition.Vars{Request: r.env.Request, ExecutionID: r.env.ExecutionID, Webhook: r.env.Webhook, Input: r.env.Input, Phases: r.variables()}.Bind()
}

const maxMessage = 1000 // characters of a fault

func clip(s string) string { return text.Short(text.Plain(s), maxMessage) }
