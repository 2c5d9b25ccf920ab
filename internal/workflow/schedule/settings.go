package schedule

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"time"

	"atrium/ent"
	"atrium/ent/calendar"
	"atrium/ent/offering"
	"atrium/ent/user"
	entworkflow "atrium/ent/workflow"
	"atrium/internal/desk/form"
	"atrium/internal/desk/request"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/locale"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/strictjson"
	"atrium/internal/workflow"
)

// Template is what a schedule files.
type Template struct {
	Title       string            `json:"title" minLength:"1" maxLength:"300" pattern:"\\S" patternDescription:"more than blanks" example:"Check the backups"`
	Description *string           `json:"description,omitempty" nullable:"true" maxLength:"10000"`
	Fields      strictjson.Object `json:"fields,omitempty" nullable:"true" doc:"The answers to the offering's form, by field key." example:"{\"system\": \"mail\"}"`
	Tags        map[string]string `json:"tags,omitempty" nullable:"true"`
	Priority    *string           `json:"priority,omitempty" nullable:"true" enum:"LOW,MEDIUM,HIGH,URGENT" doc:"MEDIUM when not given." example:"LOW"`
	RequesterID *string           `json:"requesterId,omitempty" nullable:"true" maxLength:"64" doc:"The person for whom it is: whoever saved the schedule last when not given."`
}

// of returns the input that files it.
func (t *Template) of(off *ent.Offering) request.CreateInput {
	return request.CreateInput{
		ServiceID: off.ServiceID, OfferingID: off.ID, Title: t.Title, Description: t.Description, Fields: t.Fields, Tags: t.Tags,
		Priority: t.Priority, RequesterID: t.RequesterID,
	}
}

// timing says when a schedule runs.
type timing struct {
	Cron       *string
	Every      *Every
	Zone       string
	CalendarID *string
	OnClosed   string
	Enabled    bool
}

// target says what it does.
type target struct {
	WorkflowID *string
	OfferingID *string
	Request    *Template
}

// settingsOf reads a row.
func settingsOf(s *ent.Schedule) (timing, target, error) {
	w := timing{Cron: s.Cron, Zone: s.TimeZone, CalendarID: s.CalendarID, OnClosed: string(s.OnClosed), Enabled: s.Enabled}
	t := target{WorkflowID: s.WorkflowID, OfferingID: s.OfferingID}
	if err := read(s.Every, &w.Every); err != nil {
		return w, t, fmt.Errorf("read how often %s repeats: %w", s.ID, err)
	}
	if err := read(s.Request, &t.Request); err != nil {
		return w, t, fmt.Errorf("read what %s files: %w", s.ID, err)
	}
	return w, t, nil
}

func read(raw json.RawMessage, into any) error {
	if len(raw) == 0 {
		return nil
	}
	return json.Unmarshal(raw, into)
}

// EveryOf returns how often a schedule repeats; nil for one with a cron expression.
func EveryOf(s *ent.Schedule) (*Every, error) {
	w, _, err := settingsOf(s)
	return w.Every, err
}

// compile returns the times, or what is wrong with them by field.
func (w timing) compile(ctx context.Context, db *ent.Client) (*times, []apperr.Detail, error) {
	t := &times{moves: w.OnClosed == nextWorkingDay}
	var faults []apperr.Detail
	t.rule, faults = rules(w.Cron, w.Every)
	var err error
	if t.zone, err = locale.Zone(w.Zone); err != nil {
		faults = append(faults, apperr.Detail{Field: "timeZone", Message: "must be a name of the IANA time zone database"})
	}
	if w.CalendarID != nil {
		c, err := workflow.CalendarOf(ctx, db, *w.CalendarID)
		if err != nil {
			return nil, nil, err
		}
		if c == nil {
			faults = append(faults, apperr.Detail{Field: "calendarId", Message: "is no calendar of this company"})
		} else {
			t.works = c.Works
		}
	}
	return t, faults, nil
}

// next returns the first time after now, or which field leaves none.
func (w timing) next(t *times, now time.Time) (*time.Time, error) {
	if at, ok := t.after(now); ok {
		return &at, nil
	}
	field := "calendarId"
	if t.works == nil || t.rule(onWall(now, t.zone)).IsZero() {
		field = "cron"
	}
	return nil, apperr.InvalidField(field, "must leave a time within five years")
}

func (w timing) same(as timing) bool { return reflect.DeepEqual(w, as) }

// checked is what a preparation has found.
type checked struct {
	of     time.Time // when the row was changed last
	times  *times
	faults []apperr.Detail
}

// prepare reads the times and checks the answers of a template, outside of the transaction.
func prepare(ctx context.Context, tx *op.Tx, w timing, t target) (out checked, err error) {
	if out.times, out.faults, err = w.compile(ctx, tx.Client); err != nil {
		return out, err
	}
	if t.OfferingID == nil || t.Request == nil {
		return out, nil
	}
	wrong, err := request.NewFieldFaults(ctx, tx, *t.OfferingID, t.Request.Fields, form.NoFiles("A schedule brings no files."))
	for _, d := range wrong {
		out.faults = append(out.faults, apperr.Detail{Field: "request." + d.Field, Message: d.Message})
	}
	return out, err
}

// check returns what is wrong with settings, by field, or forbidden if the caller may not do what the schedule would do as them.
func (c checked) check(ctx context.Context, tx *op.Tx, w timing, t target) error {
	if kind := tx.Principal().Type; kind != principal.TypeUser && kind != principal.TypeServiceAccount {
		return apperr.New(apperr.Forbidden, "A schedule runs as a person or a service account, which has to save it.")
	}
	if t.OfferingID != nil {
		if err := tx.MayWith(ctx, request.Create.Info().Scope, request.Create.Info().Verb); err != nil {
			return err
		}
	}
	var refs op.Refs
	for _, d := range c.faults {
		refs.Fault(d.Field, d.Message)
	}
	t.check(ctx, tx, &refs)
	if c.times.works != nil {
		refs.Check("calendarId", w.CalendarID, "calendar", op.FindShared(ctx, tx, func(id string) *ent.CalendarQuery { return tx.Calendar.Query().Where(calendar.ID(id)) }))
	}
	return refs.Err()
}

func (t target) check(ctx context.Context, tx *op.Tx, refs *op.Refs) {
	switch {
	case t.WorkflowID == nil && t.OfferingID == nil:
		refs.Fault("workflowId", "is needed, or offeringId")
	case t.WorkflowID != nil && t.OfferingID != nil:
		refs.Fault("workflowId", "must not be given together with offeringId")
	case t.OfferingID != nil && t.Request == nil:
		refs.Fault("request", "is needed with offeringId")
	case t.OfferingID == nil && t.Request != nil:
		refs.Fault("request", "must be given with offeringId alone")
	}
	refs.Check("workflowId", t.WorkflowID, "published workflow", op.FindShared(ctx, tx, func(id string) *ent.WorkflowQuery {
		return tx.Workflow.Query().Where(entworkflow.ID(id), entworkflow.VersionGT(0), entworkflow.StatusNEQ(entworkflow.StatusArchived))
	}))
	refs.Check("offeringId", t.OfferingID, "offering", op.FindShared(ctx, tx, func(id string) *ent.OfferingQuery { return tx.Offering.Query().Where(offering.ID(id)) }))
	if t.Request != nil {
		refs.Check("request.requesterId", t.Request.RequesterID, "user", op.FindShared(ctx, tx, func(id string) *ent.UserQuery { return tx.User.Query().Where(user.ID(id)) }))
	}
}
