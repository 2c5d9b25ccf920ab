package engine

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"time"

	"atrium/internal/workflow/definition"
)

// callPhase calls another server for an API_CALL or a WEBHOOK_CALLOUT. The attempt itself is an effect; its answer comes back
// as an input.
type callPhase struct{}

func (callPhase) enter(r *run, p *definition.Phase) { attempt(r, p, 1, r.env.Now) }

// attempt requests one more attempt; try counts attempts since the phase was entered or an incident was retried.
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

// wayOf returns the way out for a status: that of the first matching rule, else next for 2xx; empty for an unexpected status.
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

// respond evaluates the response expressions. They are written for a successful answer. For other answers that a status rule
// accepts, it leaves out expressions that fail: a 404 need not have the body of a 200. What an answer does not have is null.
func respond(r *run, p *definition.Phase, a *Answer) (map[string]any, error) {
	output := map[string]any{"status": a.Status}
	if p.APICall == nil {
		return output, nil
	}
	if a.Kept != nil {
		maps.Copy(output, a.Kept)
		return output, nil
	}
	b := definition.Vars{
		Request: r.env.Request, ExecutionID: r.env.ExecutionID, Webhook: r.env.Webhook, Input: r.env.Input, Phases: r.variables(),
		Response: map[string]any{"status": a.Status, "headers": Headers(a.Header), "body": a.Body},
	}.Bind()
	var all definition.Bounds
	for _, one := range p.APICall.Response {
		v, err := one.Value.Value(r.ctx, b)
		if a.Unreadable != "" && one.Value.ReadsBody() {
			err = errors.New("the answer's body cannot be read: " + a.Unreadable)
		}
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

// Headers returns an answer's headers as expressions read them, with names in lower case.
func Headers(h http.Header) map[string]string {
	out := make(map[string]string, len(h))
	for name, values := range h {
		out[strings.ToLower(name)] = strings.Join(values, ", ")
	}
	return out
}

// again requests another attempt, after twice the previous delay, or opens an incident when no attempt is left.
func again(r *run, p *definition.Phase, why string) {
	most, backoff := definition.DefaultRetries, definition.DefaultBackoffSeconds
	if p.APICall != nil {
		most, backoff = p.APICall.MaxRetries, p.APICall.BackoffSeconds
	}
	try := r.state.Wait.Try
	if try > most {
		r.raise(CallFailed, why)
		return
	}
	r.state.Visit.Attempts++
	attempt(r, p, try+1, r.env.Now.Add(backoffAfter(backoff, try)))
}

const maxBackoff = 24 * time.Hour

// backoffAfter returns the delay between the try-th attempt and the next one.
func backoffAfter(seconds, try int) time.Duration {
	return min(time.Duration(seconds)*time.Second<<(try-1), maxBackoff)
}
