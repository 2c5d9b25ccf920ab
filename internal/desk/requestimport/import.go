package requestimport

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"atrium/ent"
	"atrium/ent/requestimport"
	"atrium/internal/op"
	"atrium/internal/op/paging"
	"atrium/internal/platform/apperr"
)

// The bounds of a company's imports.
const (
	maxOpen   = 20  // that wait to be started, or run
	maxFaults = 200 // that an import keeps
	maxTold   = 20  // that a refusal names
)

// keepAsTag keeps in a tag whom a row names and the company does not have.
const keepAsTag = "tag"

var sorts = op.Sorts{"createdAt": requestimport.FieldCreatedAt, "updatedAt": requestimport.FieldUpdatedAt}

// The operations on imports.
var (
	List = paging.NewList("requestimport.list", op.Spec{
		Resource: "RequestImport", Action: op.Read, Scope: "requests:read", Sorts: sorts, Summary: "List the imports of requests",
	}, func(_ context.Context, tx *op.Tx, _ ListInput) *ent.RequestImportQuery {
		return tx.RequestImport.Query()
	})

	Get = op.Get("requestimport.read", op.Spec{
		Resource: "RequestImport", Action: op.Read, Scope: "requests:read", Summary: "Get an import of requests",
	}, load)

	Create = op.New("requestimport.create", op.Spec{
		Resource: "RequestImport", Action: op.Create, Scope: "requests:write",
		Summary: "Bring in another system's requests from a CSV table",
	}, create).Prepared(prepare)

	Start = op.OnRow("requestimport.start", op.Spec{
		Resource: "RequestImport", Action: op.Update, Scope: "requests:write", Past: map[string]string{"requestimport.start": "requestimport.started"},
		Summary: "Start an import that was checked",
	}, load, start)

	Stop = op.OnRow("requestimport.stop", op.Spec{
		Resource: "RequestImport", Action: op.Update, Scope: "requests:write", Past: map[string]string{"requestimport.stop": "requestimport.stopped"},
		Summary: "Stop an import; what has been brought in stays",
	}, load, stop)
)

// ListInput selects a page of imports.
type ListInput struct{ paging.Page }

func load(ctx context.Context, tx *op.Tx, id string) (*ent.RequestImport, error) {
	return op.Lock(tx, tx.RequestImport.Query().Where(requestimport.ID(id))).Only(ctx)
}

// Settings say how the rows of a table are read.
type Settings struct {
	Source        string            `json:"source"`
	Statuses      map[string]string `json:"statuses,omitempty"`
	Priorities    map[string]string `json:"priorities,omitempty"`
	ServiceID     string            `json:"serviceId,omitempty"`
	OfferingID    string            `json:"offeringId,omitempty"`
	UnknownPeople string            `json:"unknownPeople,omitempty"`
}

// Meanings say what words of another system mean here. Their keys are texts as people wrote them, unlike those of tags.
type Meanings map[string]string

// Schema describes them.
func (Meanings) Schema(huma.Registry) *huma.Schema {
	to := &huma.Schema{Type: huma.TypeString, MaxLength: new(200)} // longer than any field or status
	to.PrecomputeMessages()
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: to}
}

// CreateInput is a table with what its columns are.
type CreateInput struct {
	CSV           string   `json:"csv" minLength:"1" doc:"The table in UTF-8, at most 5,000 rows below a line of headings, separated by commas, semicolons or tabs." example:"Summary,Request type,Status,Created\nLaptop is slow,Laptop,Done,2026-11-28 14:05\n"`
	Source        *string  `json:"source,omitempty" nullable:"true" minLength:"1" maxLength:"40" pattern:"^[A-Za-z0-9._-]+$" patternDescription:"letters, digits, dots, hyphens and underscores" doc:"What the other system is called; csv when not given. A key of a source is brought in once." example:"jira"`
	Columns       Meanings `json:"columns,omitempty" nullable:"true" doc:"What a heading is: key, title, description, status, priority, service, offering, tags, fields, requester, assignee, team, createdAt, acceptedAt, completedAt, cancelledAt, fields.KEY for an answer, or empty to leave it out. Headings that are not given are known by their names." example:"{\"Summary\": \"title\"}"`
	Statuses      Meanings `json:"statuses,omitempty" nullable:"true" doc:"What a status there is here: PENDING, IN_PROGRESS, COMPLETED or CANCELLED. Common words need not be given." example:"{\"Waiting for customer\": \"IN_PROGRESS\"}"`
	Priorities    Meanings `json:"priorities,omitempty" nullable:"true" doc:"What a priority there is here: LOW, MEDIUM, HIGH or URGENT. Common words need not be given." example:"{\"P1\": \"URGENT\"}"`
	ServiceID     *string  `json:"serviceId,omitempty" nullable:"true" maxLength:"64" doc:"The service of rows that name none."`
	OfferingID    *string  `json:"offeringId,omitempty" nullable:"true" maxLength:"64" doc:"The offering of rows that name none."`
	UnknownPeople *string  `json:"unknownPeople,omitempty" nullable:"true" enum:"fault,tag" doc:"What becomes of a requester or assignee whom the company does not have: a fault of the row (when not given), or a tag, and the request is the caller's." example:"tag"`
	DryRun        *bool    `json:"dryRun,omitempty" nullable:"true" doc:"Whether the rows are only checked: the import waits to be started." example:"true"`
	SkipFaulty    *bool    `json:"skipFaulty,omitempty" nullable:"true" doc:"Whether rows with faults are left out. Without it they refuse the whole table." example:"false"`
}

func (in CreateInput) settings() Settings {
	return Settings{op.Or(in.Source, "csv"), in.Statuses, in.Priorities, op.Or(in.ServiceID, ""), op.Or(in.OfferingID, ""), op.Or(in.UnknownPeople, "")}
}

// checked is what checking a table has found.
type checked struct {
	columns       map[string]string
	rows          int
	known, faulty int
	faults        []*Fault
	err           error // what is wrong with the whole
}

// prepare checks all rows, outside of the transaction.
func prepare(ctx context.Context, tx *op.Tx, in CreateInput) (any, error) {
	var out checked
	if out.err = in.settings().check(); out.err != nil {
		return out, nil
	}
	var t *table
	err := tx.Costly(ctx, func(context.Context) error {
		t, out.err = readTable(in.CSV, in.Columns)
		return nil
	})
	if err != nil || out.err != nil {
		return out, err
	}
	out.columns, out.rows = t.columns(), len(t.rows)
	p, err := planOf(ctx, tx, t, in.settings(), tx.Principal().ID)
	if err != nil {
		return out, err
	}
	seen := map[string]int{}
	for from := 0; from < len(t.rows); from += checkedAtOnce {
		items, err := p.items(ctx, from, min(from+checkedAtOnce, len(t.rows)))
		if err != nil {
			return out, err
		}
		for i := range items {
			p.once(&items[i], seen)
			out.count(items[i])
		}
	}
	return out, nil
}

// once names a row whose key another row above has, too.
func (p *plan) once(it *item, seen map[string]int) {
	if it.in.ID == "" {
		return
	}
	if first, twice := seen[it.in.ID]; twice {
		reading{p, nil, it}.fault(isKey, "must be one row's: row %d has it, too", first)
		return
	}
	seen[it.in.ID] = it.row
}

func (c *checked) count(it item) {
	switch {
	case len(it.faults) > 0:
		c.faulty++
		c.faults = append(c.faults, it.faults[:min(len(it.faults), maxFaults-len(c.faults))]...)
	case it.known:
		c.known++
	}
}

// check returns a validation error for a meaning that no status and no priority has.
func (s Settings) check() error {
	var faults []apperr.Detail
	for field, of := range map[string]struct{ given, known map[string]string }{"statuses": {s.Statuses, statuses}, "priorities": {s.Priorities, priorities}} {
		values := map[string]bool{}
		for _, v := range of.known {
			values[v] = true
		}
		for from, to := range of.given {
			if !values[to] {
				faults = append(faults, apperr.Detail{Field: field + "." + from, Message: "must be one of those that requests have"})
			}
		}
	}
	if len(faults) > 0 {
		return apperr.Invalid(faults...)
	}
	return nil
}

func create(ctx context.Context, tx *op.Tx, in CreateInput) (*ent.RequestImport, error) {
	found, _ := op.Preparation[checked](tx)
	if found.err != nil {
		return nil, found.err
	}
	begins := !op.Or(in.DryRun, false)
	if begins && found.faulty > 0 && !op.Or(in.SkipFaulty, false) {
		return nil, refusal(found)
	}
	if err := fewEnough(ctx, tx); err != nil {
		return nil, err
	}
	settings, err := json.Marshal(in.settings())
	if err != nil {
		return nil, fmt.Errorf("write the settings: %w", err)
	}
	c := tx.RequestImport.Create().SetSource(in.settings().Source).SetCreatedBy(tx.Principal().ID).SetRows(found.rows).
		SetColumns(found.columns).SetSettings(settings).SetCsv(in.CSV)
	if begins {
		c.SetStatus(requestimport.StatusRUNNING) // the job counts
	} else {
		faults, err := json.Marshal(found.faults)
		if err != nil {
			return nil, fmt.Errorf("write the faults: %w", err)
		}
		c.SetKnown(found.known).SetFaulty(found.faulty).SetFaults(faults)
	}
	i, err := c.Save(ctx)
	if err != nil {
		return nil, fmt.Errorf("keep the import: %w", err)
	}
	tx.Changed(nil, i)
	if !begins {
		return i, nil
	}
	return i, tx.Insert(ctx, Args{Company: i.CompanyID, ID: i.ID}, time.Time{})
}

// refusal names the first faults of a table.
func refusal(c checked) error {
	var out []apperr.Detail
	for _, f := range c.faults[:min(len(c.faults), maxTold)] {
		out = append(out, apperr.Detail{Field: fmt.Sprintf("csv.%d.%s", f.Row, f.Column), Message: f.Message})
	}
	if c.faulty > len(out) {
		out = append(out, apperr.Detail{Field: "csv", Message: fmt.Sprintf("has faults in %d of %d rows: a dry run lists them", c.faulty, c.rows)})
	}
	return apperr.Invalid(out...)
}

// fewEnough returns conflict where the company has as many imports that have not ended as it may.
func fewEnough(ctx context.Context, tx *op.Tx) error {
	if err := tx.LockName(ctx, "requestimports"); err != nil {
		return err
	}
	n, err := tx.RequestImport.Query().Where(requestimport.StatusIn(requestimport.StatusCHECKED, requestimport.StatusRUNNING)).Count(ctx)
	if err != nil {
		return fmt.Errorf("count the imports: %w", err)
	}
	if n >= maxOpen {
		return apperr.New(apperr.Conflict, "There are %d imports that have not ended. Start or stop one of them first.", n)
	}
	return nil
}

// StartInput says what becomes of the rows with faults.
type StartInput struct {
	op.ByID
	SkipFaulty *bool `json:"skipFaulty,omitempty" nullable:"true" doc:"Whether rows with faults are left out. Without it an import that has some is not started." example:"true"`
}

func start(ctx context.Context, tx *op.Tx, before *ent.RequestImport, in StartInput) (*ent.RequestImport, error) {
	if before.Status != requestimport.StatusCHECKED {
		return nil, apperr.New(apperr.Conflict, "The import was started already, or has ended.")
	}
	if before.Faulty > 0 && !op.Or(in.SkipFaulty, false) {
		return nil, apperr.New(apperr.Conflict, "The table has faults in %d rows. Say that they are left out, or bring in a table without them.", before.Faulty)
	}
	// What was found may have changed since: the job counts anew.
	u := before.Update().SetStatus(requestimport.StatusRUNNING).SetKnown(0).SetFaulty(0).ClearFaults()
	after, err := op.Save(ctx, tx, before, u)
	if err != nil {
		return nil, fmt.Errorf("start the import: %w", err)
	}
	return after, tx.Insert(ctx, Args{Company: after.CompanyID, ID: after.ID}, time.Time{})
}

func stop(ctx context.Context, tx *op.Tx, before *ent.RequestImport, _ op.ByID) (*ent.RequestImport, error) {
	if before.FinishedAt != nil {
		return nil, apperr.New(apperr.Conflict, "The import has ended.")
	}
	after, err := op.Save(ctx, tx, before, ended(before.Update(), requestimport.StatusSTOPPED, tx.Now(ctx)))
	if err != nil {
		return nil, fmt.Errorf("stop the import: %w", err)
	}
	return after, nil
}

// ended ends an import and removes its text.
func ended(u *ent.RequestImportUpdateOne, as requestimport.Status, at time.Time) *ent.RequestImportUpdateOne {
	return u.SetStatus(as).SetFinishedAt(at).ClearCsv()
}
