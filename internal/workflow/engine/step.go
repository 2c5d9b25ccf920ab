package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
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
	Refused     *Fault         // why the request that the execution should file was refused; nil if it was filed, or there is none
	Calendar    func(id string) (*sla.Calendar, error)
	Most        int // phases that the step enters; 0 for as many as a step may
}

// Result is the result of a step.
type Result struct {
	State   State
	History []Visit // visits that were started or changed, in order
	Effects []Effect
	More    bool // the step has entered as many phases as it may: Continue continues it
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
}

// run is one step in progress.
type run struct {
	ctx     context.Context
	d       *definition.Definition
	env     Env
	state   State
	history []Visit
	effects []Effect
	next    *definition.Phase // the phase to enter next; nil when the step ends
}

// Step advances an execution by one input. Returns ErrStale, ErrNoWay or ErrNotTheirTurn for an input that changes
// nothing.
func Step(ctx context.Context, d *definition.Definition, s State, in Input, env Env) (Result, error) {
	r := &run{ctx: ctx, d: d, env: env, state: s}
	r.state.Phases = maps.Clone(s.Phases)
	if r.state.Phases == nil {
		r.state.Phases = map[string]any{}
	}
	if s.Visit != nil {
		v := *s.Visit
		r.state.Visit = &v
	}
	if err := r.take(in); err != nil {
		return Result{}, err
	}
	most := maxPhases
	if env.Most > 0 {
		most = min(most, env.Most)
	}
	for n := 0; r.next != nil && n < most && (n == 0 || !definition.Spent(ctx)); n++ {
		r.enter()
	}
	return Result{State: r.state, History: r.history, Effects: r.effects, More: r.next != nil}, nil
}

// take dispatches the input to its handler.
func (r *run) take(in Input) error {
	switch in.(type) {
	case Begin:
		if r.state.Visit != nil || r.state.Status != "" {
			return ErrStale
		}
		r.next = r.d.Start
		return nil
	case Cancel:
		if r.state.Status.Final() {
			return ErrStale
		}
		r.cancel()
		return nil
	}
	if r.state.Status.Final() || r.state.Visit == nil || in.visit() != r.state.Visit.Number {
		return ErrStale
	}
	if in, ok := in.(Move); ok {
		return r.move(in)
	}
	p := r.d.Phase(r.state.Visit.PhaseID)
	if p == nil {
		return fmt.Errorf("the definition has no phase %s", r.state.Visit.PhaseID)
	}
	switch in := in.(type) {
	case Continue:
		return r.goOn(p)
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

// goOn follows the transition that an earlier step has chosen without entering its phase.
func (r *run) goOn(p *definition.Phase) error {
	if r.state.Status != Running || r.state.Visit.Transition == "" {
		return ErrStale
	}
	r.next = p.Follow(r.state.Visit.Transition)
	return nil
}

// enter begins the visit of the next phase.
func (r *run) enter() {
	p, number := r.next, 1
	if r.state.Visit != nil {
		number = r.state.Visit.Number + 1
	}
	r.next = nil
	r.state.Status, r.state.Wait = Running, nil
	r.state.Visit = &Visit{Number: number, PhaseID: p.ID, Type: p.Type, Status: Running, StartedAt: r.env.Now, Attempts: 1}
	r.note()
	if number > MaxVisits {
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
		if raw, err := json.Marshal(r.state.Phases); err != nil || len(raw) > MaxVariables {
			delete(r.state.Phases, p.ID)
			r.state.Visit.Output = nil
			r.fail(VariablesTooLarge, fmt.Sprintf("The variables of the phases are longer than %d bytes.", MaxVariables))
			return
		}
	} else if r.state.Phases[p.ID] == nil {
		r.state.Phases[p.ID] = map[string]any{}
	}
	r.state.Wait, r.state.Status = nil, Running
	r.finish(Completed, way)
	r.tell(p, "informed")
	r.next = p.Follow(way)
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
		r.effects = append(r.effects, CloseOpen{r.state.Visit.Number})
	case in.Again:
		r.state.Visit.Attempts++ // distinguishes the incidents of a visit
	default:
		return ErrStale
	}
	r.raise(in.Code, in.Message)
	return nil
}

// raise makes the visit wait for people, with an incident.
func (r *run) raise(code, message string) {
	f := Fault{PhaseID: r.state.Visit.PhaseID, Code: code, Message: clip(message)}
	r.state.Visit.Fault = &f
	r.wait(Wait{For: ForIncident})
	r.effects = append(r.effects, OpenIncident{r.state.Visit.Number, f})
}

// failedExpression opens an incident about an expression that could not be evaluated.
func (r *run) failedExpression(what string, err error) {
	r.raise(ExpressionFailed, fmt.Sprintf("%s could not be evaluated: %v.", what, err))
}

// fail ends the execution.
func (r *run) fail(code, message string) {
	f := Fault{PhaseID: r.state.Visit.PhaseID, Code: code, Message: clip(message)}
	r.state.Status, r.state.Wait, r.state.Fault = Failed, nil, &f
	r.state.Visit.Fault = &f
	r.finish(Failed, "")
}

func (r *run) cancel() {
	r.state.Status, r.state.Wait = Cancelled, nil
	if v := r.state.Visit; v != nil && v.FinishedAt == nil {
		r.effects = append(r.effects, CloseOpen{v.Number})
		r.finish(Skipped, "")
	}
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
	way := definition.Next
	if p.Type == definition.Decision {
		way = p.Decision.Default
	}
	if p.Follow(way) == nil {
		return ErrNoWay
	}
	if err := r.resolve(in.Variables); err != nil {
		return err
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
		r.effects = append(r.effects, Tell{r.state.Visit.Number, p, role})
	}
}

// bind returns the variables for expressions.
func (r *run) bind() definition.Bound {
	return definition.Vars{Request: r.env.Request, ExecutionID: r.env.ExecutionID, Webhook: r.env.Webhook, Phases: r.state.Phases}.Bind()
}

const maxMessage = 1000 // characters of a fault

func clip(s string) string { return text.Short(text.Plain(s), maxMessage-1) }
