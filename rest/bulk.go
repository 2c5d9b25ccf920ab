package rest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"

	"atrium/ent"
	"atrium/internal/desk/request"
	"atrium/internal/gate"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
)

// Outcome says what came of one request of several that were changed at once.
type Outcome struct {
	ID      string      `json:"id" example:"req_01k9ye4ryzf7stj6dqnm8x2v3b"`
	Status  int         `json:"status" doc:"The status that the call for this request alone would have had." example:"200"`
	Request *Request    `json:"request" doc:"The request as it is now; null where it was refused."`
	Error   *gate.Error `json:"error" doc:"The body that the call for this request alone would have had; null where it was done." exampleNull:"true"`
}

// bulkRequests declares the endpoint that changes several requests. An idempotency key holds for the call and for each row by itself: a
// repeat of a call that broke off does what is missing.
func bulkRequests(path string, out func(*ent.Request) Request) route {
	o := request.Bulk
	rt := route{
		method: http.MethodPost, path: path, status: http.StatusOK, op: o.Info(),
		resource: reflect.TypeFor[Outcome](), body: reflect.TypeFor[Single[[]Outcome]](),
	}
	rt.call = func(ctx context.Context, e *op.Engine, s sent) (*op.Answer, error) {
		call, err := o.Admit(ctx, e, "")
		if err != nil {
			return nil, err
		}
		raw, query, err := s.read()
		if err != nil {
			return nil, err
		}
		in, err := o.Decode(raw, s.path, query)
		if err != nil {
			return nil, err
		}
		if call.IdempotencyKey, call.Fingerprint, err = s.key(raw); err != nil {
			return nil, err
		}
		call.Render = func(any) (op.Answer, error) { return op.Answer{Status: http.StatusOK, Body: []byte{}}, nil }
		_, begun, err := op.Run(ctx, e, o, in, call.Checked())
		if err != nil {
			return nil, err
		}
		if err := gate.Charge(ctx, len(in.IDs)-1); err != nil {
			return nil, err
		}
		answer, err := rt.answer(Single[[]outcome]{outcomes(ctx, e, in, call, out)})
		answer.Repeated = begun != nil && begun.Repeated
		return &answer, err
	}
	return rt
}

// outcome is an Outcome whose request may be a kept answer.
type outcome struct {
	Outcome
	Request json.RawMessage `json:"request"`
}

// outcomes changes the requests one after the other.
func outcomes(ctx context.Context, e *op.Engine, in request.BulkInput, begun op.Call, out func(*ent.Request) Request) []outcome {
	render := func(row any) (op.Answer, error) {
		r, ok := row.(*ent.Request)
		if !ok {
			return op.Answer{}, fmt.Errorf("render: %T is no request", row)
		}
		body, err := encode(out(r))
		return op.Answer{Status: http.StatusOK, Body: body}, err
	}
	list := make([]outcome, len(in.IDs))
	ctx = in.Gathered(ctx, e)
	for n, id := range in.IDs {
		call := op.Call{IdempotencyKey: gate.RowKey(begun.IdempotencyKey, id), Fingerprint: begun.Fingerprint, Render: render}
		if seen := in.SeenAs(n); seen != "" {
			call.IfMatch = func(row any) bool { return tagIn(seen, tagged(out)(row)) }
		}
		r, kept, err := in.Row(ctx, e, id, call)
		if err == nil && kept == nil {
			var answer op.Answer
			answer, err = render(r)
			kept = &answer
		}
		if err != nil {
			list[n] = outcome{Outcome: refused(ctx, e, id, err)}
			continue
		}
		list[n] = outcome{Outcome{ID: id, Status: kept.Status}, kept.Body}
	}
	return list
}

// refused is what came of a request that was not changed.
func refused(ctx context.Context, e *op.Engine, id string, err error) Outcome {
	if apperr.CodeOf(err) == apperr.Internal {
		e.Log.ErrorContext(ctx, "a row of several failed", "error", err, "row", id)
	}
	body := gate.BodyOf(gate.Public(err))
	return Outcome{ID: id, Status: gate.StatusOf(body.Code), Error: &body}
}
