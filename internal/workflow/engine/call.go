package engine

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"atrium/internal/workflow/definition"
)

// callPhase calls the outside for an API_CALL or a WEBHOOK_CALLOUT. The attempt itself is an effect; what it is answered with
// comes back as an input.
type callPhase struct{}

func (callPhase) enter(r *run, p *definition.Phase) { attempt(r, p, 1, r.env.Now) }

// attempt asks for one more attempt, the try-th since the phase was entered or an incident was retried.
func attempt(r *run, p *definition.Phase, try int, at time.Time) {
	n := r.state.Visit.Attempts
	r.effects = append(r.effects, Call{Visit: r.state.Visit.Number, Phase: p, Attempt: n, At: at})
	r.wait(Wait{For: ForCall, Attempt: n, Try: try, Until: &at})
}

func (callPhase) resume(r *run, p *definition.Phase, in Input) error {
	a, ok := in.(Answered)
	if !ok || r.state.Wait.For != ForCall || a.Attempt != r.state.Wait.Attempt {
		return ErrStale
	}
	r.state.Visit.Input = a.Sent
	if a.Answer == nil {
		again(r, p, a.Failure)
		return nil
	}
	way := wayOf(p, a.Answer.Status)
	if way == "" {
		again(r, p, fmt.Sprintf("The call was answered with %d.", a.Answer.Status))
		return nil
	}
	output, err := respond(r, p, a.Answer)
	if err != nil {
		r.failedExpression("The response", err)
		return nil
	}
	r.leave(p, way, output)
	return nil
}

// wayOf returns the way out of a status: the first rule's that speaks of it, next for 2xx; empty for a wrong status.
func wayOf(p *definition.Phase, status int) string {
	if p.APICall != nil {
		for _, rule := range p.APICall.StatusRules {
			if rule.Matches(status) {
				return rule.Transition
			}
		}
	}
	if status/100 == 2 && p.Follow(definition.Next) != nil {
		return definition.Next
	}
	return ""
}

// respond evaluates the response expressions. They are written for an answer that is well. Of another one, which a status rule
// takes, what cannot be evaluated is left out: a 404 need not have the body of a 200 to go its way.
func respond(r *run, p *definition.Phase, a *Answer) (map[string]any, error) {
	output := map[string]any{"status": a.Status}
	if p.APICall == nil {
		return output, nil
	}
	b := definition.Vars{
		Request: r.env.Request, ExecutionID: r.env.ExecutionID, Webhook: r.env.Webhook, Phases: r.state.Phases,
		Response: map[string]any{"status": a.Status, "headers": headers(a.Header), "body": a.Body},
	}.Bind()
	var all definition.Bounds
	for _, one := range p.APICall.Response {
		v, err := one.Value.Value(r.ctx, b)
		if err != nil && a.Status/100 != 2 {
			continue
		}
		if err == nil {
			err = all.Take(v)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", one.Variable, err)
		}
		output[one.Variable] = v
	}
	return output, nil
}

// headers are an answer's, names in lower case.
func headers(h http.Header) map[string]string {
	out := make(map[string]string, len(h))
	for name, values := range h {
		out[strings.ToLower(name)] = strings.Join(values, ", ")
	}
	return out
}

// again asks for another attempt, each twice as long after the one before, or makes an incident when there is none left.
func again(r *run, p *definition.Phase, why string) {
	most, backoff := definition.DefaultRetries, definition.DefaultBackoffSeconds
	if p.APICall != nil {
		most, backoff = p.APICall.MaxRetries, p.APICall.BackoffSeconds
	}
	try := r.state.Wait.Try
	if try > most {
		r.stuck(CallFailed, why)
		return
	}
	r.state.Visit.Attempts++
	attempt(r, p, try+1, r.env.Now.Add(backoffAfter(backoff, try)))
}

const maxBackoff = 24 * time.Hour

// backoffAfter is how long after the try-th attempt the next one is made.
func backoffAfter(seconds, try int) time.Duration {
	return min(time.Duration(seconds)*time.Second<<(try-1), maxBackoff)
}
