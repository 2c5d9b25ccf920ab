package condition

import (
	"context"
	"fmt"
	"slices"

	"entgo.io/ent/dialect/sql"

	"atrium/ent"
	"atrium/ent/offering"
	"atrium/ent/workflow"
	"atrium/internal/desk/form"
	"atrium/internal/op"
	"atrium/internal/op/paging"
	"atrium/internal/platform/strictjson"
)

// The places of conditions, as the API names them.
const (
	Decision = "DECISION"
	Data     = "DATA"
	Routing  = "ROUTING"
	Agent    = "AGENT"
	Inbound  = "INBOUND"
	Call     = "INBOUND_WHEN"
	Form     = "FORM"
	ofValue  = "VALUE"
	ofMoment = "MOMENT"
	ofItems  = "LIST"
	ofCall   = "CALL"
	ofAnswer = "RESPONSE"
)

// The types of fields. Texts, dates and times of a form are texts in JSON; TIME is a moment of the request itself.
const (
	Text     = "TEXT"
	Number   = "NUMBER"
	Boolean  = "BOOLEAN"
	Date     = "DATE"
	DateTime = "DATETIME"
	Time     = "TIME"
	List     = "LIST"
	User     = "USER"
	Team     = "TEAM"
	Service  = "SERVICE"
	Offering = "OFFERING"
	Any      = "ANY"
)

const (
	maxFields    = 500 // of one answer
	maxOfferings = 100 // whose questions are listed
	maxValues    = 500 // of one field
)

// Field is something that a condition can compare. Optional says that it may be null or absent.
type Field struct {
	Expression string
	Label      string
	Group      string
	Type       string
	Optional   bool
	Values     []Value
}

// Value is one that a field can have.
type Value struct{ Value, Label string }

// Fields lists what a condition can read.
var Fields = op.New("request.condition_fields", op.Spec{
	Resource: "Request", Action: op.Read, AdminLayer: true, Summary: "List what a condition can read",
}, list).WithVerbs(func(in FieldsInput) []string { return verbs(in.For) })

// FieldsInput names a place: the row to which the condition belongs, and the phase before which it stands.
type FieldsInput struct {
	For        string            `json:"for" enum:"DECISION,DATA,ROUTING,AGENT,INBOUND,INBOUND_WHEN,FORM,VALUE,MOMENT,LIST,CALL,RESPONSE" doc:"Where the expression stands."`
	ID         *string           `json:"id,omitempty" nullable:"true" minLength:"1" maxLength:"64" doc:"The workflow, the inbound webhook or the offering that it belongs to. Rules and agents need none."`
	PhaseID    *string           `json:"phaseId,omitempty" nullable:"true" maxLength:"64" doc:"The phase that it stands in: only phases that may come before it are listed."`
	Definition strictjson.Object `json:"definition,omitempty" nullable:"true" doc:"The workflow's definition as it is being written; the saved one when not given."`
}

// verbs are the rights that a place takes: those of reading what stands there, and requests.
func verbs(place string) []string {
	of := map[string][]string{
		Decision: {"workflow.read"}, Data: {"workflow.read"}, ofValue: {"workflow.read"}, ofMoment: {"workflow.read"}, ofItems: {"workflow.read"},
		ofCall: {"workflow.read"}, ofAnswer: {"workflow.read"}, Routing: {"routingrule.read"}, Agent: {"agent.read"},
		Inbound: {"inboundwebhook.read", "inboundcall.read"}, Call: {"inboundwebhook.read", "inboundcall.read"}, Form: {"offering.update"},
	}[place]
	return append([]string{"request.read", "offering.read"}, of...)
}

func list(ctx context.Context, tx *op.Tx, in FieldsInput) ([]*Field, error) {
	switch in.For {
	case Routing, Agent:
		return everyRequest(ctx, tx)
	case Inbound, Call:
		return callFields(ctx, tx, op.Or(in.ID, ""))
	case Form:
		o, err := tx.Offering.Query().Where(offering.ID(op.Or(in.ID, ""))).Only(ctx)
		if err != nil {
			return nil, fmt.Errorf("read the offering: %w", err)
		}
		return questions([]*ent.Offering{compared(o)}, func(key string) string { return key }), nil
	default:
		return inWorkflow(ctx, tx, in)
	}
}

// compared returns an offering without the questions that no visibleWhen compares: those for files.
func compared(o *ent.Offering) *ent.Offering {
	if o.Form == nil {
		return o
	}
	fields := slices.DeleteFunc(slices.Clone(o.Form.Fields), func(f form.Field) bool { return f.Type == form.File })
	return &ent.Offering{ID: o.ID, Name: o.Name, Form: &form.Definition{Fields: fields}}
}

// everyRequest lists the fields of requests, and the questions of all offerings.
func everyRequest(ctx context.Context, tx *op.Tx) ([]*Field, error) {
	rows, err := loadOfferings(ctx, tx, offering.StatusEQ(offering.StatusActive))
	if err != nil {
		return nil, err
	}
	tags, err := tagFields(ctx, tx)
	out := slices.Concat(requestFields(true), tags, questions(rows, answer))
	return out[:min(len(out), maxFields)], err
}

func inWorkflow(ctx context.Context, tx *op.Tx, in FieldsInput) ([]*Field, error) {
	d, err := loadDefinition(ctx, tx, in)
	if err != nil {
		return nil, err
	}
	tags, err := tagFields(ctx, tx)
	if err != nil {
		return nil, err
	}
	out := append(requestFields(false), tags...)
	if in.ID != nil {
		rows, err := loadOfferings(ctx, tx, offering.Or(offering.WorkflowID(*in.ID), offering.ReopenWorkflowID(*in.ID)))
		if err != nil {
			return nil, err
		}
		out = append(out, questions(rows, answer)...)
	}
	out = append(out, d.fields(op.Or(in.PhaseID, ""))...)
	given, err := givenFields(ctx, tx, op.Or(in.ID, ""), in.Definition)
	out = append(out, given...)
	return out[:min(len(out), maxFields)], err
}

func loadOfferings(ctx context.Context, tx *op.Tx, where func(*sql.Selector)) ([]*ent.Offering, error) {
	rows, err := tx.Offering.Query().Where(where, offering.FormNotNil()).Order(paging.ByText[offering.OrderOption](offering.FieldName), offering.ByID()).
		Limit(maxOfferings).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the offerings: %w", err)
	}
	return rows, nil
}

// loadDefinition returns the definition that the caller writes, else the saved one. With a workflow's id, the caller must see it.
func loadDefinition(ctx context.Context, tx *op.Tx, in FieldsInput) (sketch, error) {
	if in.ID == nil {
		return sketchOf(in.Definition), nil
	}
	w, err := tx.Workflow.Query().Where(workflow.ID(*in.ID)).Only(ctx)
	if err != nil {
		return sketch{}, fmt.Errorf("read the workflow: %w", err)
	}
	if in.Definition != nil {
		return sketchOf(in.Definition), nil
	}
	return savedSketch(w)
}

func answer(key string) string { return "request.fields" + member(key) }

// questions lists the questions of offerings by their keys. What several ask by one key is listed once.
func questions(rows []*ent.Offering, expression func(key string) string) []*Field {
	byKey := map[string]*Field{}
	var out []*Field
	for _, o := range rows {
		if o.Form == nil {
			continue
		}
		for _, f := range o.Form.Fields {
			one := ofForm(f, expression(f.Key), o.Name)
			before := byKey[f.Key]
			if before == nil {
				byKey[f.Key] = one
				out = append(out, one)
				continue
			}
			before.Group = "Several offerings"
			if before.Type != one.Type {
				before.Type, before.Values = Any, nil
			} else if before.Type != Any {
				before.join(one.Values)
			}
		}
	}
	return out
}

// join adds values that the field does not list. A field that takes any text lists none.
func (f *Field) join(more []Value) {
	if len(f.Values) == 0 || len(more) == 0 {
		f.Values = nil
		return
	}
	for _, v := range more {
		if len(f.Values) < maxValues && !slices.Contains(f.Values, v) {
			f.Values = append(f.Values, v)
		}
	}
}

var formTypes = map[form.Type]string{
	form.Number: Number, form.Boolean: Boolean, form.Date: Date, form.DateTime: DateTime, form.MultiSelect: List, form.File: List, form.User: User, form.Team: Team,
}

func ofForm(f form.Field, expression, group string) *Field {
	out := &Field{Expression: expression, Label: f.Title(), Group: group, Type: formTypes[f.Type], Optional: true}
	if out.Type == "" {
		out.Type = Text
	}
	for _, v := range f.Options {
		out.Values = append(out.Values, Value{v, v})
	}
	return out
}
