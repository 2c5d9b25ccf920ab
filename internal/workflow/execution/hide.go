package execution

import (
	"context"
	"encoding/json"
	"reflect"

	"atrium/internal/op"
	"atrium/internal/platform/strictjson"
	"atrium/internal/secret"
	"atrium/internal/workflow/engine"
)

// hidden returns what a caller has written into an execution without the company's secrets: an object, or a text. Rows, the audit log and
// events hold it so. Call it in a preparation.
func hidden[T strictjson.Object | string](ctx context.Context, tx *op.Tx, written T) (T, error) {
	if len(written) == 0 {
		return written, nil
	}
	err := tx.Costly(ctx, func(ctx context.Context) error {
		m, err := secret.Mask(ctx, tx.Client, tx.Sealer())
		if err != nil || m.Empty() {
			return err
		}
		switch w := any(&written).(type) {
		case *strictjson.Object:
			masked, _ := m.Value(map[string]any(*w)).(map[string]any)
			*w = masked
		case *string:
			*w = m.Text(*w)
		}
		return nil
	})
	return written, err
}

// hide masks the company's secrets in all that a plan stores: people, forms and webhooks bring them, too. What a plan only reads, and
// the request, stay as they are.
func (r *Runner) hide(ctx context.Context, p *plan) error {
	m, err := secret.Mask(ctx, r.Engine.Store.Reader(), r.Engine.Sealer)
	if err != nil {
		return err
	}
	return p.hide(m)
}

func (p *plan) hide(m *secret.Masker) (err error) {
	if m.Empty() {
		return nil
	}
	if p.was.Visit == nil && len(p.row.Webhook) > 0 {
		if p.webhook, err = hideJSON(m, p.row.Webhook); err != nil {
			return err
		}
	}
	p.state.Each(func(s *engine.State) { hideState(m, s, p.was.Phases) })
	for i, v := range p.history {
		p.history[i] = hideVisit(m, v)
	}
	for i, e := range p.effects {
		switch e := e.(type) {
		case engine.OpenTask:
			e.Title = m.Text(e.Title)
			for n, wrong := range e.Correct {
				e.Correct[n].Message = m.Text(wrong.Message)
			}
			p.effects[i] = e
		case engine.StartWorkflow:
			e.Input, _ = m.Value(e.Input).(map[string]any)
			p.effects[i] = e
		case engine.OpenIncident:
			e.Fault.Message = m.Text(e.Fault.Message)
			p.effects[i] = e
		}
	}
	return nil
}

// hideState masks a state. Its maps are copies of those that were loaded, so only what is new differs from what was.
func hideState(m *secret.Masker, s *engine.State, was map[string]any) {
	for id, v := range s.Phases {
		if !same(v, was[id]) {
			s.Phases[id] = m.Value(v)
		}
	}
	if s.Visit != nil {
		v := hideVisit(m, *s.Visit)
		s.Visit = &v
	}
	s.Fault = hideFault(m, s.Fault)
	if w := s.Wait; w != nil && w.Output != nil {
		waits := *w
		waits.Output, _ = m.Value(w.Output).(map[string]any)
		s.Wait = &waits
	}
	if s.Block != nil && s.Block.Items != nil {
		s.Block.Items, _ = m.Value(s.Block.Items).([]any)
	}
}

func hideVisit(m *secret.Masker, v engine.Visit) engine.Visit {
	v.Input, v.Output, v.Fault = m.Value(v.Input), m.Value(v.Output), hideFault(m, v.Fault)
	return v
}

func hideFault(m *secret.Masker, f *engine.Fault) *engine.Fault {
	if f == nil {
		return nil
	}
	hidden := *f
	hidden.Message = m.Text(f.Message)
	return &hidden
}

// hideJSON masks a document.
func hideJSON(m *secret.Masker, raw json.RawMessage) (json.RawMessage, error) {
	var v any
	if err := decode(raw, &v); err != nil {
		return nil, err
	}
	return encode(m.Value(v))
}

// same reports whether two values of phases are one object.
func same(a, b any) bool {
	x, isMap := a.(map[string]any)
	y, bothMaps := b.(map[string]any)
	return isMap && bothMaps && reflect.ValueOf(x).Pointer() == reflect.ValueOf(y).Pointer()
}
