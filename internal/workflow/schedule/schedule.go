package schedule

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"atrium/ent"
	"atrium/ent/company"
	"atrium/ent/schedule"
	"atrium/ent/schedulerun"
	"atrium/internal/op"
	"atrium/internal/op/paging"
	"atrium/internal/platform/apperr"
)

// rooms are how many schedules the plans have. A sandbox has those of the free plan.
var rooms = map[company.Plan]int{
	company.PlanFree: 5, company.PlanPro: 20, company.PlanStarter: 50, company.PlanGrowth: 200, company.PlanBusiness: 1000, company.PlanEnterprise: 1000,
}

// listed is how many times Times lists.
const listed = 10

var (
	sorts = op.Sorts{
		"createdAt": schedule.FieldCreatedAt, "updatedAt": schedule.FieldUpdatedAt, "name": op.Alphabetical(schedule.FieldName),
	}
	runSorts = op.Sorts{"createdAt": schedulerun.FieldCreatedAt, "updatedAt": schedulerun.FieldUpdatedAt}
)

// The operations on schedules.
var (
	List = paging.NewList("schedule.list", op.Spec{
		Resource: "Schedule", Action: op.Read, Scope: "workflows:read", Sorts: sorts, Summary: "List schedules",
	}, func(_ context.Context, tx *op.Tx, in ListInput) *ent.ScheduleQuery {
		where := paging.Words(paging.In(nil, in.WorkflowID, schedule.WorkflowIDIn), in.Q, schedule.FieldName)
		where = paging.In(where, in.OfferingID, schedule.OfferingIDIn)
		if in.Enabled != nil {
			where = append(where, schedule.Enabled(*in.Enabled))
		}
		return tx.Schedule.Query().Where(where...)
	})

	Get = op.Get("schedule.read", op.Spec{
		Resource: "Schedule", Action: op.Read, Scope: "workflows:read", Summary: "Get a schedule",
	}, load)

	Create = op.New("schedule.create", op.Spec{
		Resource: "Schedule", Action: op.Create, Scope: "workflows:write", Summary: "Plan to start a workflow or to file a request, again and again",
	}, create).Prepared(func(ctx context.Context, tx *op.Tx, in CreateInput) (any, error) {
		w, t := in.settings()
		return prepare(ctx, tx, w, t)
	}).WithCheck(func(ctx context.Context, tx *op.Tx, in CreateInput) error {
		w, t := in.settings()
		found, err := prepare(ctx, tx, w, t)
		if err != nil {
			return err
		}
		return found.check(ctx, tx, w, t)
	}, together...)

	Update = op.OnRow("schedule.update", op.Spec{
		Resource: "Schedule", Action: op.Update, Scope: "workflows:write", Summary: "Update a schedule, which then runs as the caller",
	}, load, update).Prepared(prepareUpdate).WithCheck(checkUpdate, together...)

	Delete = op.OnRow("schedule.delete", op.Spec{
		Resource: "Schedule", Action: op.Delete, Scope: "workflows:write", Summary: "Delete a schedule with its runs; what it has started goes on",
	}, load, remove)

	ListRuns = op.OnRow("schedule.runs", op.Spec{
		Resource: "Schedule", Action: op.Read, Scope: "workflows:read", Sorts: runSorts, Summary: "List what came of a schedule's times: the last 50",
	}, load, func(ctx context.Context, tx *op.Tx, s *ent.Schedule, in ListRunsInput) (paging.List[*ent.ScheduleRun], error) {
		return paging.Of(ctx, in.Page, runSorts, tx.ScheduleRun.Query().Where(schedulerun.ScheduleID(s.ID)))
	})

	Times = op.New("schedule.times", op.Spec{
		Resource: "Schedule", Action: op.Read, Scope: "workflows:read", Summary: "Compute when a schedule would run: the next ten times",
	}, nextTimes)
)

// together are the fields of which one is needed without the other: where one cannot be read, the other is not missing.
var together = []string{"cron", "every", "workflowId", "offeringId"}

func load(ctx context.Context, tx *op.Tx, id string) (*ent.Schedule, error) {
	return op.Lock(tx, tx.Schedule.Query().Where(schedule.ID(id))).Only(ctx)
}

// ListInput selects a page of schedules.
type ListInput struct {
	paging.Page
	Enabled    *bool    `json:"-" query:"enabled" doc:"true: schedules that run; false: those that do not."`
	WorkflowID []string `json:"-" query:"workflowId" doc:"Schedules that start any of these workflows."`
	OfferingID []string `json:"-" query:"offeringId" doc:"Schedules that file requests against any of these offerings."`
	Q          string   `json:"-" query:"q" maxLength:"200" doc:"Schedules whose name has these words, or parts of them."`
}

// ListRunsInput pages the runs of a schedule.
type ListRunsInput struct {
	op.ByID
	paging.Page
}

// CreateInput describes a new schedule.
type CreateInput struct {
	Name       string    `json:"name" minLength:"1" maxLength:"200" pattern:"\\S" patternDescription:"more than blanks" example:"Weekly backup check"`
	WorkflowID *string   `json:"workflowId,omitempty" nullable:"true" minLength:"1" maxLength:"64" doc:"A published workflow to start, without a request. Either this or offeringId."`
	OfferingID *string   `json:"offeringId,omitempty" nullable:"true" minLength:"1" maxLength:"64" doc:"An offering against which requests are filed. Either this or workflowId."`
	Request    *Template `json:"request,omitempty" nullable:"true" doc:"What is filed; needed with offeringId, and with it alone."`
	Cron       *string   `json:"cron,omitempty" nullable:"true" minLength:"1" maxLength:"200" doc:"Five fields: minute, hour, day of the month, month, day of the week, with five minutes between two times at least. Either this or every." example:"0 9 * * MON"`
	Every      *Every    `json:"every,omitempty" nullable:"true" doc:"How often, without a cron expression. Either this or cron."`
	TimeZone   string    `json:"timeZone" minLength:"1" maxLength:"64" doc:"The zone whose clocks count: a name of the IANA time zone database." example:"Europe/Berlin"`
	CalendarID *string   `json:"calendarId,omitempty" nullable:"true" minLength:"1" maxLength:"64" doc:"The calendar whose days without working time are free."`
	OnClosed   *string   `json:"onClosed,omitempty" nullable:"true" enum:"SKIP,NEXT_WORKING_DAY" doc:"What becomes of a time on a free day: it is left out (when not given), or moves to the next working day." example:"NEXT_WORKING_DAY"`
	Missed     *string   `json:"missed,omitempty" nullable:"true" enum:"ONCE,SKIP" doc:"What becomes of times that passed while no server ran: one run makes up for all (when not given), or they are skipped." example:"ONCE"`
	Enabled    *bool     `json:"enabled,omitempty" nullable:"true" doc:"true when not given." example:"true"`
}

func (in CreateInput) settings() (timing, target) {
	return timing{in.Cron, in.Every, in.TimeZone, in.CalendarID, op.Or(in.OnClosed, skip), op.Or(in.Enabled, true)},
		target{in.WorkflowID, in.OfferingID, in.Request}
}

func create(ctx context.Context, tx *op.Tx, in CreateInput) (*ent.Schedule, error) {
	found, _ := op.Preparation[checked](tx)
	w, t := in.settings()
	if err := found.check(ctx, tx, w, t); err != nil {
		return nil, err
	}
	next, err := w.next(found.times, tx.Now(ctx))
	if err != nil {
		return nil, err
	}
	if err := mayAdd(ctx, tx); err != nil {
		return nil, err
	}
	me := tx.Principal().ID
	c := tx.Schedule.Create().SetName(in.Name).SetNillableWorkflowID(t.WorkflowID).SetNillableOfferingID(t.OfferingID).SetNillableCron(w.Cron).
		SetTimeZone(w.Zone).SetNillableCalendarID(w.CalendarID).SetOnClosed(schedule.OnClosed(w.OnClosed)).
		SetMissed(schedule.Missed(op.Or(in.Missed, string(schedule.DefaultMissed)))).SetEnabled(w.Enabled).SetRunsAs(me).SetCreatedBy(me)
	if w.Enabled {
		c.SetNextRunAt(*next)
	}
	if err := encode(w.Every, c.SetEvery); err != nil {
		return nil, err
	}
	if err := encode(t.Request, c.SetRequest); err != nil {
		return nil, err
	}
	s, err := c.Save(ctx)
	if err != nil {
		return nil, fmt.Errorf("create the schedule: %w", err)
	}
	tx.Changed(nil, s)
	return s, wake(ctx, tx, s)
}

// encode sets a column to a value as JSON, unless there is none.
func encode[T, U any](v *T, set func(json.RawMessage) U) error {
	if v == nil {
		return nil
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("write the schedule: %w", err)
	}
	set(raw)
	return nil
}

// wake inserts the job of a schedule's next time.
func wake(ctx context.Context, tx *op.Tx, s *ent.Schedule) error {
	if s.NextRunAt == nil {
		return nil
	}
	return tx.Insert(ctx, Args{Company: s.CompanyID, ID: s.ID, At: *s.NextRunAt}, *s.NextRunAt)
}

// mayAdd returns conflict when the company has as many schedules as its plan has room for. A lock makes its creates run one after the
// other.
func mayAdd(ctx context.Context, tx *op.Tx) error {
	if err := tx.LockName(ctx, "schedules/"+tx.Principal().CompanyID); err != nil {
		return err
	}
	c, err := tx.Company.Get(ctx, tx.Principal().CompanyID)
	if err != nil {
		return fmt.Errorf("read the company's plan: %w", err)
	}
	n, err := tx.Schedule.Query().Count(tx.Unfiltered(ctx, "schedules that the caller does not see count, too"))
	if err != nil {
		return fmt.Errorf("count the schedules: %w", err)
	}
	room := rooms[c.Plan]
	if c.SandboxOf != nil {
		room = rooms[company.PlanFree]
	}
	if n >= room {
		return apperr.New(apperr.Conflict, "The company has %d schedules, which is as many as its plan has room for.", n)
	}
	return nil
}

func remove(ctx context.Context, tx *op.Tx, s *ent.Schedule, _ op.ByID) (struct{}, error) {
	return op.Remove(ctx, tx, s, tx.Schedule.DeleteOne(s).Exec)
}

// TimesInput says when a schedule would run.
type TimesInput struct {
	Cron       *string `json:"cron,omitempty" nullable:"true" minLength:"1" maxLength:"200" doc:"Five fields: minute, hour, day of the month, month, day of the week. Either this or every." example:"0 9 * * MON"`
	Every      *Every  `json:"every,omitempty" nullable:"true" doc:"How often, without a cron expression. Either this or cron."`
	TimeZone   string  `json:"timeZone" minLength:"1" maxLength:"64" doc:"The zone whose clocks count: a name of the IANA time zone database." example:"Europe/Berlin"`
	CalendarID *string `json:"calendarId,omitempty" nullable:"true" minLength:"1" maxLength:"64" doc:"The calendar whose days without working time are free."`
	OnClosed   *string `json:"onClosed,omitempty" nullable:"true" enum:"SKIP,NEXT_WORKING_DAY" doc:"What becomes of a time on a free day: it is left out (when not given), or moves to the next working day." example:"SKIP"`
}

func nextTimes(ctx context.Context, tx *op.Tx, in TimesInput) ([]time.Time, error) {
	w := timing{Cron: in.Cron, Every: in.Every, Zone: in.TimeZone, CalendarID: in.CalendarID, OnClosed: op.Or(in.OnClosed, skip)}
	t, faults, err := w.compile(ctx, tx.Client)
	if err != nil {
		return nil, err
	}
	if len(faults) > 0 {
		return nil, apperr.Invalid(faults...)
	}
	out := []time.Time{}
	err = tx.Costly(ctx, func(ctx context.Context) error {
		at := tx.Now(ctx)
		for range listed {
			next, ok := t.after(at)
			if !ok {
				break
			}
			out, at = append(out, next), next
		}
		return nil
	})
	if err == nil && len(out) == 0 {
		_, err = w.next(t, tx.Now(ctx))
	}
	return out, err
}
