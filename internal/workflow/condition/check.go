package condition

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"entgo.io/ent/dialect/sql"

	"atrium/ent"
	"atrium/ent/predicate"
	"atrium/ent/request"
	domain "atrium/internal/desk/request"
	"atrium/internal/op"
	"atrium/internal/platform/strictjson"
	"atrium/internal/workflow/definition"
)

const (
	maxRequests = 100                    // that a condition is tried on
	maxTrial    = 300 * time.Millisecond // for all of them together
	maxShown    = 16 << 10               // bytes of a result
)

// Check tries an expression, and changes nothing.
var Check = op.New("request.condition_check", op.Spec{
	Resource: "Request", Action: op.Read, AdminLayer: true, Summary: "Try a condition before it is kept",
}, check).WithVerbs(func(in CheckInput) []string { return verbs(in.For) })

// CheckInput is an expression with its place. A sample is a request, or the variables by their names.
type CheckInput struct {
	FieldsInput
	Expression string            `json:"expression" minLength:"1" maxLength:"4096" doc:"CEL; for FORM the JSON of visibleWhen."`
	RequestID  *string           `json:"requestId,omitempty" nullable:"true" minLength:"1" maxLength:"64" doc:"A request that the caller may read, to try it on."`
	Sample     strictjson.Object `json:"sample,omitempty" nullable:"true" doc:"Variables to try it on: {request, phases, webhook}."`
	LastCall   bool              `json:"lastCall,omitempty" doc:"Try it on the last call of the inbound webhook, or on the sample of the sender that it was made for."`
}

// Checked is what became of an expression. Matches and Examined are nil where conditions are not about requests alone.
type Checked struct {
	Type     *string
	Fault    *Fault
	Result   json.RawMessage // nil without a sample
	Error    *string         // why it gives nothing for the sample
	Matches  *int
	Examined *int
}

// Fault is what is wrong with an expression; without a place, Line and Column are nil.
type Fault struct {
	Message string
	Line    *int
	Column  *int
}

func check(ctx context.Context, tx *op.Tx, in CheckInput) (out Checked, err error) {
	if in.For == Form {
		return checkForm(ctx, tx, in)
	}
	phases, err := reads(ctx, tx, in)
	if err != nil {
		return out, err
	}
	vars, err := loadSample(ctx, tx, in)
	if err != nil {
		return out, err
	}
	var last []*ent.Request
	if in.For == Routing || in.For == Agent {
		if last, err = loadLast(ctx, tx); err != nil {
			return out, err
		}
	}
	err = tx.Costly(ctx, func(ctx context.Context) error {
		e, fault := definition.Check(ctx, places[in.For], in.Expression, phases, slices.Contains(conditions, in.For))
		if fault != nil {
			out.Fault = faultOf(fault)
			return nil
		}
		out.Type = new(e.Type())
		if vars != nil {
			out.try(ctx, e, *vars)
		}
		if last != nil {
			return out.count(ctx, e, last)
		}
		return nil
	})
	return out, err
}

// places are where expressions stand; those that are not named stand in a workflow.
var places = map[string]definition.Place{
	Routing: definition.OnRequest, Agent: definition.OnRequest, Inbound: definition.InMapping, Call: definition.InMapping,
	ofMoment: definition.AsMoment, ofItems: definition.AsList, ofCall: definition.InCall, ofAnswer: definition.InResponse,
}

// conditions are the places at which an expression must be true or false.
var conditions = []string{Decision, Data, Routing, Agent, Call}

// reads returns the phases that the expression may name. The caller must see the row that the expression belongs to.
func reads(ctx context.Context, tx *op.Tx, in CheckInput) ([]string, error) {
	switch in.For {
	case Decision, Data, ofValue, ofMoment, ofItems, ofCall, ofAnswer:
		d, err := loadDefinition(ctx, tx, in.FieldsInput)
		return d.ids(), err
	case Inbound, Call:
		_, err := loadWebhook(ctx, tx, op.Or(in.ID, ""))
		return nil, err
	}
	return nil, nil
}

// loadSample returns the variables to try the expression on; nil for none.
func loadSample(ctx context.Context, tx *op.Tx, in CheckInput) (*definition.Vars, error) {
	if in.LastCall && (in.For == Inbound || in.For == Call) {
		return lastVars(ctx, tx, op.Or(in.ID, ""))
	}
	if in.RequestID == nil && in.Sample == nil {
		return nil, nil
	}
	part := func(name string) map[string]any {
		m, _ := in.Sample[name].(map[string]any)
		return m
	}
	vars := &definition.Vars{Request: part("request"), Phases: part("phases"), Webhook: part("webhook"), Input: part("input")}
	if in.RequestID == nil {
		return vars, nil
	}
	r, err := tx.Request.Query().Where(append(readable(tx), request.ID(*in.RequestID))...).Only(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the request: %w", err)
	}
	vars.Request, err = domain.Variables(r)
	return vars, err
}

// readable limits requests to those that the caller's role reaches.
func readable(tx *op.Tx) []predicate.Request {
	if tx.OwnOnly() {
		return []predicate.Request{request.RequesterID(tx.Principal().ID)}
	}
	return nil
}

// newest selects the newest requests that the caller's role reaches.
func newest(tx *op.Tx) *ent.RequestQuery {
	return tx.Request.Query().Where(readable(tx)...).Order(request.ByCreatedAt(sql.OrderDesc()), request.ByID(sql.OrderDesc())).Limit(maxRequests)
}

// loadLast returns the newest requests that the caller may read.
func loadLast(ctx context.Context, tx *op.Tx) ([]*ent.Request, error) {
	rows, err := newest(tx).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the last requests: %w", err)
	}
	if rows == nil {
		rows = []*ent.Request{}
	}
	return rows, nil
}

func faultOf(f *definition.Fault) *Fault {
	out := &Fault{Message: f.Message}
	if f.Line > 0 {
		out.Line, out.Column = &f.Line, &f.Column
	}
	return out
}

// try evaluates the expression on the sample.
func (c *Checked) try(ctx context.Context, e *definition.Expr, vars definition.Vars) {
	v, err := e.Value(ctx, vars.Bind())
	if err == nil {
		var raw json.RawMessage
		if raw, err = json.Marshal(v); err == nil && len(raw) <= maxShown {
			c.Result = raw
			return
		}
		if err == nil {
			err = fmt.Errorf("the result is longer than %d bytes", maxShown)
		}
	}
	c.Error = new(err.Error())
}

// count evaluates the expression on the requests as they are now. An expression that gives nothing for one does not match it. When the
// time is up, the rest is not examined.
func (c *Checked) count(ctx context.Context, e *definition.Expr, last []*ent.Request) error {
	until := time.Now().Add(maxTrial)
	ctx, _ = definition.WithBudget(ctx, maxTrial)
	matches, examined := 0, 0
	for _, r := range last {
		if time.Now().After(until) {
			break
		}
		values, err := domain.Variables(r)
		if err != nil {
			return err
		}
		ok, err := e.Bool(ctx, definition.Vars{Request: values}.Bind())
		if err == nil && ok {
			matches++
		}
		examined++
	}
	c.Matches, c.Examined = &matches, &examined
	return ctx.Err()
}
