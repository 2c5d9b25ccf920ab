package graph

import (
	"context"
	"encoding/json"

	"atrium/graph/internal/resolve"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/strictjson"
	"atrium/internal/workflow/condition"
)

func (r *queryResolver) ConditionFields(ctx context.Context, place string, id, phaseID *string, definition json.RawMessage) ([]*condition.Field, error) {
	in := condition.FieldsInput{For: place, ID: id, PhaseID: phaseID}
	var err error
	if in.Definition, err = objectOf("definition", definition); err != nil {
		return nil, err
	}
	return resolve.Run(ctx, r.Engine, condition.Fields, in)
}

func (r *queryResolver) CheckExpression(ctx context.Context, place string, id *string, definition json.RawMessage, expression string,
	requestID *string, sample json.RawMessage, lastCall *bool,
) (*condition.Checked, error) {
	in := condition.CheckInput{FieldsInput: condition.FieldsInput{For: place, ID: id}, Expression: expression, RequestID: requestID, LastCall: op.Or(lastCall, false)}
	var err error
	if in.Definition, err = objectOf("definition", definition); err != nil {
		return nil, err
	}
	if in.Sample, err = objectOf("sample", sample); err != nil {
		return nil, err
	}
	c, err := resolve.Run(ctx, r.Engine, condition.Check, in)
	return &c, err
}

// objectOf reads an argument that is a JSON object; nil for none.
func objectOf(name string, raw json.RawMessage) (out strictjson.Object, err error) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	if err := json.Unmarshal(raw, &out); err != nil {
		return nil, apperr.InvalidField(name, "must be a JSON object")
	}
	return out, nil
}
