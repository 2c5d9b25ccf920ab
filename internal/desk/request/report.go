package request

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	"atrium/ent"
	"atrium/ent/service"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/locale"
	"atrium/internal/platform/period"
	"atrium/internal/platform/share"
)

// Report returns the figures of the requests that a list with the same filter would find: of a time, of the time before it, of each step
// of the time, and of groups.
var Report = op.New("request.report", op.Spec{
	Resource: "Request", Action: op.Read, Scope: "requests:read", Summary: "Report figures of the requests of a time",
}, report)

// The limits of one report.
const (
	maxReportMonths = 25
	maxReportRows   = 1_000_000
	maxReportTime   = 3 * time.Second // of reading, after its turn has come
	maxReportGroups = 100             // rows of one group
	usualReportDays = 30              // of a report of no time
)

// reporting are the places of a process, of which a company has one at a time.
var reporting = share.New(max(2, runtime.GOMAXPROCS(0)/2), 1)

// unpaged takes the parameters of pages from an input that embeds that of a list.
type unpaged struct {
	Number, Size, Sort struct{} `json:"-"`
}

// ReportInput is the time, the filters of the list, and what the figures are told apart by.
type ReportInput struct {
	ListInput
	unpaged
	From     *time.Time `json:"-" query:"from" doc:"From this moment on; 30 days before to when not given."`
	To       *time.Time `json:"-" query:"to" doc:"Before this moment, at most 25 months after from; now when not given."`
	Over     string     `json:"-" query:"over" enum:"day,week,month" default:"day" doc:"Into what steps the time is divided."`
	TimeZone string     `json:"-" query:"timeZone" maxLength:"64" doc:"The zone of the days, by its IANA name; the company's when not given."`
	By       []string   `json:"-" query:"by" enum:"service,offering,team,assignee,organization,priority" doc:"By what requests are told apart besides, each in a group of its own."`

	Named bool `json:"-"` // whether groups tell the names of what they are about
}

// Reported is a report.
type Reported struct {
	TimeZone string
	Total    *Figures
	Before   *Figures // of the time of the same length before
	Over     []*FiguresOf
	Groups   []*FigureGroup
}

// FiguresOf are the figures of a step of the time, or of the requests that have something in common.
type FiguresOf struct {
	Key     *string // YYYY-MM-DD of the step's first day, an id or a priority; nil for none
	Name    string  // with ReportInput.Named: of what the id is of, if the caller sees it
	Figures Figures
}

// FigureGroup are figures that are told apart by one thing.
type FigureGroup struct {
	By   string
	Rows []*FiguresOf
}

func report(ctx context.Context, tx *op.Tx, in ReportInput) (*Reported, error) {
	if err := in.CheckBy(); err != nil {
		return nil, err
	}
	zone, err := in.zone(ctx, tx)
	if err != nil {
		return nil, err
	}
	from, to, err := in.bounds(tx.Now(ctx))
	if err != nil {
		return nil, err
	}
	t := newTally(period.Before(from, to, zone), from, to, period.Steps(in.Over, from, to, zone), len(in.By))
	if err := t.read(ctx, tx, in.ListInput, in.By); err != nil {
		return nil, err
	}
	out := &Reported{TimeZone: zone.String(), Total: &t.whole.figures[inTime], Before: &t.whole.figures[inTimeBefore], Over: t.stepRows()}
	for i, g := range t.groups {
		rows := g.rows()
		out.Groups = append(out.Groups, &FigureGroup{By: in.By[i], Rows: rows[:min(len(rows), maxReportGroups)]})
	}
	if in.Named {
		err = out.name(ctx, tx)
	}
	return out, err
}

// CheckBy returns validation_error if requests are told apart by one thing twice.
func (in ReportInput) CheckBy() error {
	if by := slices.Sorted(slices.Values(in.By)); len(slices.Compact(by)) < len(in.By) {
		return apperr.InvalidField("by", "must not name anything twice")
	}
	return nil
}

// bounds returns the bounds of the time in UTC.
func (in ReportInput) bounds(now time.Time) (from, to time.Time, err error) {
	to = op.Or(in.To, now).UTC()
	from = op.Or(in.From, to.AddDate(0, 0, -usualReportDays)).UTC()
	if !from.Before(to) || to.After(from.AddDate(0, maxReportMonths, 0)) {
		return from, to, apperr.InvalidField("to", "must be after from, by %d months at most", maxReportMonths)
	}
	return from, to, nil
}

// zone returns the zone of the days: the one that was asked for, or the company's.
func (in ReportInput) zone(ctx context.Context, tx *op.Tx) (*time.Location, error) {
	name := in.TimeZone
	if name == "" {
		c, err := tx.Company.Query().Only(ctx)
		if err != nil {
			return nil, fmt.Errorf("read the company: %w", err)
		}
		name = op.ReaderOf(nil, c).Zone
	}
	zone, err := locale.Zone(name)
	if err != nil {
		return nil, apperr.InvalidField("timeZone", "must be a name of the IANA time zone database, such as Europe/Berlin")
	}
	return zone, nil
}

// read counts the requests that the filter finds, after the company's turn has come.
func (t *tally) read(ctx context.Context, tx *op.Tx, in ListInput, by []string) error {
	leave, err := turn(ctx, reporting, tx.Principal().CompanyID, "Others are reading reports at the moment. Try again shortly.")
	if err != nil {
		return err
	}
	defer leave()
	reading, stop := context.WithTimeout(ctx, maxReportTime)
	defer stop()
	err = t.count(reading, tx, in, by)
	if errors.Is(err, context.DeadlineExceeded) && reading.Err() != nil && ctx.Err() == nil {
		slow := apperr.InvalidField("from", "must be later: the report has too many requests for %.0f seconds; narrow it", maxReportTime.Seconds())
		known := apperr.Wrap(err, slow.Code, "%s", slow.Message) // with its cause a replica's read is not repeated on the primary
		known.Details = slow.Details
		return known
	}
	return err
}

// organizations returns the organization of each service that the caller sees and that has one.
func organizations(ctx context.Context, tx *op.Tx) (map[string][]byte, error) {
	services, err := tx.Service.Query().Where(service.OrganizationIDNotNil()).Select(service.FieldID, service.FieldOrganizationID).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the organizations of the services: %w", err)
	}
	out := make(map[string][]byte, len(services))
	for _, s := range services {
		out[s.ID] = []byte(*s.OrganizationID)
	}
	return out, nil
}

// name reads the names of what the groups are about; those that the access policies hide stay empty.
func (r *Reported) name(ctx context.Context, tx *op.Tx) error {
	var ids []string
	for _, g := range r.Groups {
		for _, row := range g.Rows {
			if row.Key != nil {
				ids = append(ids, *row.Key)
			}
		}
	}
	names := map[string]string{}
	p := &Piece{Names: names}
	if err := p.name(ctx, tx, ids); err != nil {
		return err
	}
	if err := namesOf(ctx, tx.Organization.Query(), ids, names, func(o *ent.Organization) string { return o.Name }); err != nil {
		return err
	}
	for _, g := range r.Groups {
		for _, row := range g.Rows {
			row.Name = names[op.Or(row.Key, "")]
		}
	}
	return nil
}
