package graph

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"slices"
	"strconv"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"atrium/graph/internal/fault"
	"atrium/graph/internal/resolve"
	"atrium/graph/internal/scalar"
	"atrium/internal/gate"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
)

// extensions returns what callers are told of an error in its `extensions`.
func extensions(e *apperr.Error, requestID string) map[string]any {
	out := map[string]any{"code": e.Code, "requestId": requestID}
	if len(e.Details) > 0 {
		out["details"] = e.Details
	}
	if e.Reason != "" {
		out["reason"] = e.Reason
	}
	if e.DecisionID != "" {
		out["decisionId"] = e.DecisionID
	}
	if e.RetryAfter > 0 {
		out["retryAfter"] = e.RetryAfter
	}
	return out
}

// present turns the error of a field into the error of the answer. The cause is logged and never shown.
func (s *Server) present(ctx context.Context, err error) *gqlerror.Error {
	e := asError(ctx, err)
	requestID := ""
	if p, ok := principal.From(ctx); ok {
		requestID = p.RequestID
	}
	if w, ok := errors.AsType[*resolve.PendingAction](err); ok {
		return pending(ctx, w, requestID)
	}
	if ours := e.Code == apperr.Internal || apperr.CodeOf(err) == apperr.Internal && store.IsUnavailable(err); ours && !gate.CallerLeft(ctx) {
		s.Log.ErrorContext(ctx, "field failed", "error", err, "requestId", requestID, "path", graphql.GetPath(ctx).String())
	}
	out := &gqlerror.Error{Message: e.Message, Extensions: extensions(e, requestID), Path: graphql.GetPath(ctx)}
	if g, ok := errors.AsType[*gqlerror.Error](err); ok {
		out.Path, out.Locations = g.Path, g.Locations
	}
	return out
}

// pending returns the GraphQL error of a mutation that waits, with its action.
func pending(ctx context.Context, e *resolve.PendingAction, requestID string) *gqlerror.Error {
	extensions := map[string]any{}
	if err := json.Unmarshal(e.Answer, &extensions); err != nil {
		extensions = map[string]any{}
	}
	extensions["code"], extensions["requestId"] = "accepted", requestID
	return &gqlerror.Error{Message: e.Error(), Extensions: extensions, Path: graphql.GetPath(ctx)}
}

// asError returns the *apperr.Error behind the error of a field.
func asError(ctx context.Context, err error) *apperr.Error {
	if e, ok := errors.AsType[*apperr.Error](err); ok && e.Code != apperr.Internal {
		return e
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return apperr.Wrap(err, apperr.Unavailable, "The operation took longer than %s.", gate.MaxCall)
	}
	if f, ok := errors.AsType[scalar.Fault](err); ok {
		return apperr.InvalidField(argument(err), "%s", string(f))
	}
	return gate.Public(err)
}

// argument names the argument that could not be read, as REST names the field.
func argument(err error) string {
	g, ok := errors.AsType[*gqlerror.Error](err)
	if !ok {
		return "variables"
	}
	path := g.Path
	for i, part := range g.Path {
		if name, ok := part.(ast.PathName); ok && (name == "filter" || name == "input") && i+1 < len(g.Path) {
			path = g.Path[i+1:]
		}
	}
	return path.String()
}

// recovered logs a panic and returns the error that the caller gets.
func (s *Server) recovered(ctx context.Context, v any) error {
	s.Log.ErrorContext(ctx, "panic", "value", fmt.Sprint(v), "stack", string(debug.Stack()))
	return apperr.From(fmt.Errorf("panic: %v", v))
}

// invalid returns the error of an operation that does not fit the schema.
func invalid(schema *ast.Schema, doc *ast.QueryDocument, o *ast.OperationDefinition, variables map[string]any, err error) error {
	if details := fault.Find(schema, doc, o, variables); len(details) > 0 {
		return apperr.Invalid(details...)
	}
	var list gqlerror.List
	if !errors.As(err, &list) {
		return apperr.Wrap(err, apperr.Validation, "The variables do not fit the operation.")
	}
	const most = 10
	var details []apperr.Detail
	for _, e := range list[:min(len(list), most)] {
		message := e.Message
		if len(e.Locations) > 0 {
			message = fmt.Sprintf("%s (line %d, column %d)", message, e.Locations[0].Line, e.Locations[0].Column)
		}
		details = append(details, apperr.Detail{Field: "query", Message: message})
	}
	refusal := apperr.Invalid(details...)
	refusal.Message = list[0].Message
	return refusal
}

// fail answers a call that was not run.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	status := gate.WriteErrorHeaders(s.Log, w, r, err)
	e := gate.Public(err)
	errs := gqlerror.List{{Message: e.Message, Extensions: extensions(e, gate.RequestID(w))}}
	send(w, acceptedBy(r), status, slices.Concat([]byte(`{"errors":`), encoded(errs), []byte("}"))) // nothing was run: no data
}

// send writes an answer in the type of JSON that its caller prefers.
func send(w http.ResponseWriter, takes accepted, status int, body []byte) {
	if takes.own {
		gate.SendAs(w, status, responseType+"; charset=utf-8", body)
		return
	}
	gate.Send(w, status, body)
}

// encoded returns errors as JSON.
func encoded(errs gqlerror.List) []byte {
	b, err := json.Marshal(errs)
	if err != nil {
		return []byte(`[{"message":"Something went wrong on our side.","extensions":{"code":"internal_error"}}]`)
	}
	return b
}

// answer sends an operation's result. The status is 503 when the service was unavailable and no field has data, so that clients
// and proxies know that a retry may succeed. In responseType such an answer has no data, because one with data has to be 200.
func (s *Server) answer(w http.ResponseWriter, takes accepted, res *graphql.Response) {
	status := http.StatusOK
	retry, down := unavailable(res)
	if down {
		status = http.StatusServiceUnavailable
		w.Header().Set("Retry-After", strconv.Itoa(retry))
	}
	b := bytes.NewBuffer(make([]byte, 0, len(res.Data)+64))
	writeResult(b, res, !down || !takes.own)
	send(w, takes, status, b.Bytes())
}

// unavailable reports whether an error says that the database is unavailable and every root field is null, and after how many
// seconds a retry makes sense.
func unavailable(res *graphql.Response) (retry int, down bool) {
	for _, e := range res.Errors {
		if seconds, ok := e.Extensions["retryAfter"].(int); ok && e.Extensions["code"] == apperr.Unavailable {
			retry, down = seconds, true
			break
		}
	}
	if !down || len(res.Data) == 0 {
		return retry, down
	}
	var data map[string]json.RawMessage
	if err := json.Unmarshal(res.Data, &data); err != nil {
		return 0, false
	}
	for _, value := range data {
		if string(value) != "null" {
			return 0, false
		}
	}
	return retry, true
}

// writeResult writes a result as JSON; data says whether the operation was run.
func writeResult(b *bytes.Buffer, res *graphql.Response, data bool) {
	b.WriteByte('{')
	if len(res.Errors) > 0 {
		b.WriteString(`"errors":`)
		b.Write(encoded(res.Errors))
		if data {
			b.WriteByte(',')
		}
	}
	if data {
		b.WriteString(`"data":`)
		if len(res.Data) == 0 {
			b.WriteString("null")
		}
		b.Write(res.Data)
	}
	b.WriteByte('}')
}
