package execution

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"atrium/ent"
	"atrium/ent/execution"
	"atrium/ent/inboundwebhook"
	domain "atrium/internal/desk/request"
	"atrium/internal/op"
	"atrium/internal/op/events"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
	"atrium/internal/workflow/definition"
	"atrium/internal/workflow/engine"
)

// Intake describes the request that an execution files before it enters its first phase.
type Intake struct {
	OfferingID   string          `json:"offeringId"`
	Name         string          `json:"name"` // the webhook's name: the request's title if the mapping gives none
	FieldMapping json.RawMessage `json:"fieldMapping,omitempty"`
}

const mappingTimeout = 5 * time.Second

// files reports whether the execution's next commit files its request: because the execution has not begun, or because
// somebody has its first phase retried.
func (l *loaded) files() bool {
	if len(l.row.Intake) == 0 || l.row.RequestID != nil {
		return false
	}
	if l.state.Visit == nil {
		return true
	}
	_, retried := l.retry()
	return retried && l.state.Visit.PhaseID == l.d.Start.ID
}

// retry returns the pending resolution of an incident, if it has the same phase entered again.
func (l *loaded) retry() (engine.Retry, bool) {
	if len(l.inputs) != 1 {
		return engine.Retry{}, false
	}
	if m, ok := l.inputs[0].(engine.Move); ok && m.PhaseID == l.state.Visit.PhaseID {
		return engine.Retry{Visit: m.Visit, Variables: m.Variables}, true
	}
	r, ok := l.inputs[0].(engine.Retry)
	return r, ok
}

// file files the request, as the webhook, in a transaction of its own. Before that it evaluates the mapping and checks the
// result against the offering's form. Returns a fault that tells people why the request cannot be filed, or errMoved or
// op.ErrOutdated when the execution or the offering has changed since it was read. wait is fair's.
func (r *Runner) file(ctx context.Context, l *loaded, wait bool) (*engine.Fault, error) {
	var in domain.CreateInput
	err := r.fair(ctx, l.row.CompanyID, wait, func(ctx context.Context) (err error) {
		in, err = r.intake(ctx, l)
		return err
	})
	if fault, err := unfiled(ctx, l, err); fault != nil || err != nil {
		return fault, err
	}
	who := principal.WorkerAs(l.row.CompanyID, op.Or(l.row.InboundWebhookID, "system"), "inbound webhook")
	ready, err := op.Prepare(ctx, r.Engine, who, domain.Create, in)
	if err == nil {
		err = r.Engine.WorkAs(ctx, who, func(ctx context.Context, tx *op.Tx) error {
			made, err := op.RunReady(ctx, tx, domain.Create, ready)
			if err != nil {
				return err
			}
			n, err := tx.Execution.Update().Where(execution.ID(l.row.ID), execution.Revision(l.row.Revision)).AddRevision(1).SetRequestID(made.ID).Save(ctx)
			if err != nil {
				return fmt.Errorf("note the execution's request: %w", err)
			}
			if n == 0 {
				return errMoved
			}
			return domain.Link(ctx, tx.Client, made.ID, l.row.ID)
		})
	}
	return unfiled(ctx, l, err)
}

// unfiled turns an error of the mapping or a refusal into a fault, and returns other errors.
func unfiled(ctx context.Context, l *loaded, err error) (*engine.Fault, error) {
	fault := &engine.Fault{PhaseID: l.d.Start.ID, Code: engine.RequestRefused}
	switch wrong, expression := errors.AsType[*definition.MappingError](err); {
	case err == nil:
		return nil, nil
	case ctx.Err() != nil, errors.Is(err, errMoved), errors.Is(err, op.ErrOutdated):
		return nil, err
	case expression:
		fault.Code, fault.Message = engine.ExpressionFailed, "The field mapping could not be evaluated: "+wrong.Error()+"."
	case isRefusal(err):
		e := apperr.From(err)
		text := []string{"The request was refused: " + e.Message}
		for _, d := range e.Details {
			text = append(text, d.Field+": "+d.Message)
		}
		fault.Message = strings.Join(text, " ")
	default:
		return nil, err
	}
	return fault, nil
}

// intake returns the request that the execution files. The first attempt uses the webhook as it was when it was called. A
// retry uses the webhook as it is now, and the variables that the retry gives for the first phase: title, description, priority and fields.
func (r *Runner) intake(ctx context.Context, l *loaded) (domain.CreateInput, error) {
	var in domain.CreateInput
	var intake Intake
	if err := decode(l.row.Intake, &intake); err != nil {
		return in, fmt.Errorf("read what %s files: %w", l.row.ID, err)
	}
	db := r.Engine.Store.Reader()
	retry, again := l.retry()
	if again && l.row.InboundWebhookID != nil {
		w, err := db.InboundWebhook.Query().Where(inboundwebhook.ID(*l.row.InboundWebhookID)).Only(ctx)
		if err != nil && !ent.IsNotFound(err) {
			return in, fmt.Errorf("read the webhook: %w", err)
		}
		if w != nil && w.OfferingID != nil {
			intake.OfferingID, intake.FieldMapping = *w.OfferingID, w.FieldMapping
		}
	}
	off, err := db.Offering.Get(ctx, intake.OfferingID)
	if ent.IsNotFound(err) {
		return in, apperr.New(apperr.Conflict, "The offering does not exist any more.")
	}
	if err != nil {
		return in, fmt.Errorf("read the offering: %w", err)
	}
	webhook, err := webhookOf(l.row)
	if err != nil {
		return in, err
	}
	mapped, err := evalMapping(ctx, intake.FieldMapping, webhook, given(retry.Variables[l.d.Start.ID]))
	if err != nil {
		return in, err
	}
	in = domain.CreateInput{
		ServiceID: off.ServiceID, OfferingID: off.ID, Title: titled(mapped.Title, intake.Name), Description: described(mapped.Description),
		Priority: mapped.Priority, Tags: tagsOf(mapped.Tags), Fields: mapped.Fields, Cause: events.Cause{Execution: l.row.ID},
	}
	if mapped.RequesterEmail != nil {
		in.RequesterID, err = domain.PersonAt(ctx, db, *mapped.RequesterEmail)
	}
	return in, err
}

// given reads the variables of a retry, which replace values of the mapping.
func given(variables any) definition.Mapped {
	var out definition.Mapped
	m, _ := variables.(map[string]any)
	if title, ok := m["title"].(string); ok {
		out.Title = &title
	}
	if priority, ok := m["priority"].(string); ok {
		out.Priority = &priority
	}
	if description, ok := m["description"].(string); ok {
		out.Description = &description
	}
	out.Fields, _ = m["fields"].(map[string]any)
	return out
}

// mappings caches compiled mappings by the hash of their text.
var mappings, _ = lru.New[[sha256.Size]byte, *definition.Mapping](512)

// evalMapping evaluates a mapping over the webhook's call. Without a mapping it returns given.
func evalMapping(ctx context.Context, raw json.RawMessage, webhook map[string]any, given definition.Mapped) (definition.Mapped, error) {
	if len(raw) == 0 {
		return given, nil
	}
	ctx, cancel := context.WithTimeout(ctx, mappingTimeout)
	defer cancel()
	m, err := mappingOf(ctx, raw)
	if err != nil {
		return given, err
	}
	return m.Eval(ctx, webhook, given)
}

// mappingOf returns the compiled mapping.
func mappingOf(ctx context.Context, raw json.RawMessage) (*definition.Mapping, error) {
	key := sha256.Sum256(raw)
	if m, ok := mappings.Get(key); ok {
		return m, nil
	}
	m, faults := definition.ParseMapping(ctx, raw)
	if len(faults) > 0 {
		return nil, errors.Join(ctx.Err(), fmt.Errorf("read the mapping: %s: %s", faults[0].Field, faults[0].Message))
	}
	mappings.Add(key, m)
	return m, nil
}
