package authz

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"
)

// denials asks whether the operator's modules deny; it serves the filter of rows.
var denials = ast.MustParseBody("data.atrium.operator.deny[_]")

// readOperator partially evaluates the operator's denials, and checks that they fold on every resource.
func (b *bundle) readOperator(ctx context.Context) error {
	n, err := partially(ctx, b.compiler, rego.Store(b.data), denials)
	if err != nil {
		return fmt.Errorf("the operator's policies: %w", err)
	}
	if n == always(false) {
		return nil
	}
	b.operator = n
	for _, r := range resources {
		f := folder{on: r, caller: func([]string) ast.Value { return nil }}
		if _, err := f.fold(n); err != nil {
			if errors.Is(err, errUntranslatable) {
				return fmt.Errorf("the operator's policies, on a %s: %w", r.name, err)
			}
			return err
		}
	}
	return nil
}

// denies asks the operator's modules about a row, and returns the name of the first denial.
func (b *bundle) denies(ctx context.Context, c *Caller, q Question, row Row) (name string, denied bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, maxDecision)
	defer cancel()
	input, err := ast.InterfaceToValue(operatorInput(c, q, row))
	if err != nil {
		return "", false, fmt.Errorf("write the input of the operator's policies: %w", err)
	}
	v, err := evaluate(ctx, b.denial, input)
	if err != nil {
		return "", false, err
	}
	list, ok := v.([]any)
	if !ok {
		return "", false, errors.New("read the operator's denials: no set")
	}
	var names []string
	for _, e := range list {
		s, ok := e.(string)
		if !ok {
			s = fmt.Sprint(e)
		}
		names = append(names, s)
	}
	if len(names) == 0 {
		return "", false, nil
	}
	return slices.Min(names), true, nil
}

// operatorInput is the documented input of the operator's modules.
func operatorInput(c *Caller, q Question, row Row) map[string]any {
	in := c.Document()
	in["role"], in["action"], in["resource_type"] = string(c.Principal.Role), q.Action, q.Resource
	in["resource"] = row.Document()
	if row.Document() == nil {
		in["resource"] = map[string]any{}
	}
	return in
}
