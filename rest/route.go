package rest

import (
	"context"
	"fmt"
	"net/http"
	"reflect"

	"atrium/internal/op"
	"atrium/internal/op/paging"
	"atrium/internal/platform/store"
)

// route is a row of the route table.
type route struct {
	method string
	path   string // below /v1
	status int    // of success
	op     *op.Info

	resource reflect.Type // the type of the resource in answers
	body     reflect.Type // the type of a successful body: the resource in its envelope; nil for no body
	bare     bool         // whether there is no envelope
	note     string       // what the reference says besides; empty for nothing
	tagged   bool         // whether the row is about a single resource, which has an ETag

	call func(ctx context.Context, e *op.Engine, s sent) (*op.Answer, error)
}

// single reports whether a row answers with one resource in its envelope.
func (rt *route) single() bool { return rt.tagged && rt.body != nil }

// Single is the envelope of one resource.
type Single[T any] struct {
	Data T `json:"data"`
}

// Page is the envelope of a list.
type Page[T any] struct {
	Data       []T        `json:"data"`
	Pagination Pagination `json:"pagination"`
}

// Pagination says which part of a list a page is.
type Pagination struct {
	Page       int `json:"page" doc:"Counted from 1." example:"1"`
	PageSize   int `json:"pageSize" example:"20"`
	TotalPages int `json:"totalPages" doc:"0 when there is nothing." example:"1"`
	TotalCount int `json:"totalCount" example:"1"`
}

// one declares an endpoint that answers with a single resource.
func one[In, Out, Body any](method, path string, status int, o *op.Operation[In, Out], out func(Out) Body) route {
	return row(route{
		method: method, path: path, status: status, resource: reflect.TypeFor[Body](), body: reflect.TypeFor[Single[Body]](),
	}, o, func(v Out) any { return Single[Body]{out(v)} }, tagged(out))
}

// list declares an endpoint that answers with a page of resources.
func list[In, T, Body any](path string, o *op.Operation[In, paging.List[T]], out func(T) Body) route {
	return row(route{
		method: http.MethodGet, path: path, status: http.StatusOK, resource: reflect.TypeFor[Body](), body: reflect.TypeFor[Page[Body]](),
	}, o, func(l paging.List[T]) any { return pageOf(l, out) }, nil)
}

// noting adds a sentence to what the reference says of the endpoint.
func (rt route) noting(note string) route {
	rt.note = note
	return rt
}

// pageOf renders a page of a list.
func pageOf[T, Body any](l paging.List[T], out func(T) Body) Page[Body] {
	p := Page[Body]{Data: make([]Body, len(l.Rows)), Pagination: Pagination{
		Page: l.Page.Number, PageSize: l.Page.Size, TotalPages: l.Pages(), TotalCount: l.Total,
	}}
	for i, v := range l.Rows {
		p.Data[i] = out(v)
	}
	return p
}

// bare declares an endpoint whose answer has no envelope.
func bare[In, Out, Body any](method, path string, o *op.Operation[In, Out], out func(Out) Body) route {
	return row(route{
		method: method, path: path, status: http.StatusOK, resource: reflect.TypeFor[Body](), body: reflect.TypeFor[Body](), bare: true,
	}, o, func(v Out) any { return out(v) }, nil)
}

// remove declares an endpoint that deletes a row and answers without a body. out renders the row for the check of If-Match.
func remove[In, Row, Body any](path string, o *op.Operation[In, struct{}], out func(Row) Body) route {
	return row(route{method: http.MethodDelete, path: path, status: http.StatusNoContent}, o, func(struct{}) any { return nil }, tagged(out))
}

// tagged returns a function that renders a loaded row for its ETag. It returns nil for a value of another type.
func tagged[Row, Body any](out func(Row) Body) func(any) any {
	return func(v any) any {
		if r, ok := v.(Row); ok {
			return Single[Body]{out(r)}
		}
		return nil
	}
}

// row completes rt. wrap turns a result into the body of the answer. tag turns a loaded row into the body that its ETag is
// computed from; tag is nil for an endpoint without ETags.
func row[In, Out any](rt route, o *op.Operation[In, Out], wrap func(Out) any, tag func(any) any) route {
	rt.op, rt.tagged = o.Info(), tag != nil
	render := func(v any) (op.Answer, error) {
		out, ok := v.(Out)
		if !ok {
			return op.Answer{}, fmt.Errorf("render: %T is no result of %s", v, rt.op.Name)
		}
		return rt.answer(wrap(out))
	}
	rt.call = func(ctx context.Context, e *op.Engine, s sent) (*op.Answer, error) {
		call, err := o.Admit(ctx, e, s.path("id"))
		if err != nil {
			return nil, err
		}
		raw, query, err := s.read()
		if err != nil {
			return nil, err
		}
		in, err := o.Decode(raw, s.path, query)
		if err != nil {
			return nil, o.AllFaults(ctx, e, in, err)
		}
		if call.IdempotencyKey, call.Fingerprint, err = s.key(raw); err != nil {
			return nil, err
		}
		call.Render = render
		if tag != nil {
			call.IfMatch = s.ifMatch(tag)
		}
		out, kept, err := op.Run(store.ForCall(ctx), e, o, in, call.Checked())
		if err != nil || kept != nil {
			return kept, err
		}
		answer, err := render(out)
		return &answer, err
	}
	return rt
}
