package request

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"entgo.io/ent/dialect/sql"

	"atrium/ent"
	"atrium/ent/attachment"
	"atrium/internal/op"
	"atrium/internal/op/audit"
	"atrium/internal/op/paging"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/clock"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/share"
	"atrium/internal/platform/store"
	"atrium/internal/platform/text"
)

// The limits of one table.
const (
	MaxExport      = 100_000
	exportedAtOnce = 100     // requests in one statement, as on a page of the list
	exportedBytes  = 8 << 20 // of their long values: one may have answers of nearly a mebibyte, and then there are fewer in a statement
	maxPiece       = 10 * time.Second
	maxTurn        = 5 * time.Second // for its turn
)

// exporting are the places of a process. One export takes a part of a processor for seconds; a company has one at a time.
var exporting = share.New(4, 1)

// Export reads some requests for a table, with the names that it shows. Each piece is a call of its own, so that a right that ends
// while a table is written ends the table.
var Export = op.New("request.export", op.Spec{
	Resource: "Request", Action: op.Read, Scope: "requests:read", Sorts: sorts,
	Summary: "Export requests as a table",
}, exportPiece)

// ExportInput filters and orders the table as the list.
type ExportInput struct{ ListInput }

// Piece is a part of a table.
type Piece struct {
	paging.List[*ent.Request]
	Names map[string]string // of services, offerings, people, teams and files of answers that the caller sees, by id
}

func exportPiece(ctx context.Context, tx *op.Tx, in ExportInput) (*Piece, error) {
	list, err := fitting(ctx, tx, in.ListInput)
	if err != nil {
		return nil, err
	}
	ids := map[string]bool{}
	for _, r := range list.Rows {
		for _, id := range []string{r.ServiceID, r.OfferingID, r.CreatedBy, r.RequesterID, op.Or(r.AssigneeID, ""), op.Or(r.TeamID, "")} {
			ids[id] = true
		}
	}
	out := &Piece{List: list, Names: map[string]string{}}
	if err := out.nameFiles(ctx, tx); err != nil {
		return nil, err
	}
	return out, out.name(ctx, tx, slices.Collect(maps.Keys(ids)))
}

// fitting lists requests, fewer than asked for where they are long.
func fitting(ctx context.Context, tx *op.Tx, in ListInput) (paging.List[*ent.Request], error) {
	for {
		found, err := list(store.Within(ctx, exportedBytes), tx, in)
		if !errors.Is(err, store.ErrLong) || in.Size == 1 {
			return found, err
		}
		in.Size = max(1, in.Size/4)
	}
}

// fileInAnswer finds the ids of files in encoded answers, as values of their own.
var fileInAnswer = regexp.MustCompile(`"(att_[0-9a-z]+)"`)

// nameFiles reads the names of the files that answers name.
func (p *Piece) nameFiles(ctx context.Context, tx *op.Tx) error {
	var ids, of []string
	for _, r := range p.Rows {
		for _, found := range fileInAnswer.FindAllSubmatch(r.Fields, -1) {
			ids = append(ids, string(found[1]))
		}
		of = append(of, r.ID)
	}
	if len(ids) == 0 {
		return nil
	}
	rows, err := tx.Attachment.Query().Where(attachment.IDIn(ids...), attachment.RequestIDIn(of...), attachment.CommentIDIsNil()).All(ctx)
	if err != nil {
		return fmt.Errorf("read the names of files: %w", err)
	}
	for _, a := range rows {
		p.Names[a.ID] = a.Name
	}
	return nil
}

// fieldsCell writes answers with the names of their files.
func fieldsCell(raw json.RawMessage, names map[string]string) string {
	return fileInAnswer.ReplaceAllStringFunc(objectLine(raw), func(quoted string) string {
		name, known := names[strings.Trim(quoted, `"`)]
		if !known {
			return quoted
		}
		written, err := json.Marshal(name)
		if err != nil { // a text can be written
			return quoted
		}
		return string(written)
	})
}

// name reads the names of all ids; those that the access policies hide stay empty.
func (p *Piece) name(ctx context.Context, tx *op.Tx, ids []string) error {
	people, err := NameAll(ctx, tx, ids)
	if err != nil {
		return err
	}
	for id, of := range people {
		p.Names[id] = of.Name
	}
	if err := namesOf(ctx, tx.Service.Query(), ids, p.Names, func(s *ent.Service) string { return s.Name }); err != nil {
		return err
	}
	return namesOf(ctx, tx.Offering.Query(), ids, p.Names, func(o *ent.Offering) string { return o.Name })
}

// namesOf adds the names of a query's rows, by id.
func namesOf[Q paging.Query[Q, Row, P, O], Row any, P, O ~func(*sql.Selector)](
	ctx context.Context, q Q, ids []string, names map[string]string, name func(*Row) string,
) error {
	found, err := paging.LookUp(ctx, q, paging.ByIDs{IDs: ids, Columns: []string{"id", "name"}})
	for id, row := range found {
		names[id] = name(row)
	}
	return err
}

// Table is a table of requests that is being read.
type Table struct {
	engine *op.Engine
	in     ExportInput
	next   *Piece
	size   int // of the next piece
	leave  func()

	Total int // how many requests match; a table has MaxExport of them at most
}

// OpenTable takes a place for a table and reads its first piece. Returns unavailable where its turn does not come within 5 s: a company
// has one at a time. Close gives the place back.
func OpenTable(ctx context.Context, e *op.Engine, in ExportInput) (*Table, error) {
	p, ok := principal.From(ctx)
	if !ok {
		return nil, apperr.Unauthenticated(nil)
	}
	leave, err := turn(ctx, exporting, p.CompanyID, "Others are exporting at the moment. Try again shortly.")
	if err != nil {
		return nil, err
	}
	t := &Table{engine: e, in: in, size: exportedAtOnce, leave: leave}
	if err := t.read(ctx, ""); err != nil {
		leave()
		return nil, err
	}
	t.Total = t.next.Total
	return t, nil
}

// turn takes a place for a company. Returns unavailable, with what is said of it, where the company's turn does not come within 5 s.
func turn(ctx context.Context, places *share.Places, companyID, busy string) (leave func(), err error) {
	waiting, stop := context.WithTimeout(ctx, maxTurn)
	defer stop()
	if leave, err = places.Take(waiting, companyID); err != nil {
		e := apperr.Wrap(err, apperr.Unavailable, "%s", busy)
		e.RetryAfter = 5
		return nil, e
	}
	return leave, nil
}

// Close gives the table's place back.
func (t *Table) Close() { t.leave() }

// Record writes into the audit log that a member of staff takes the table out.
func (t *Table) Record(ctx context.Context) error {
	p, ok := principal.From(ctx)
	if !ok || p.Role == principal.Member {
		return nil
	}
	return t.engine.WorkAs(ctx, p, func(ctx context.Context, tx *op.Tx) error {
		out := map[string]audit.Change{"filter": {To: t.in.told()}, "count": {To: min(t.Total, MaxExport)}}
		return tx.Note(ctx, "request.exported", "Request", "", out)
	})
}

// told returns the filters that are set, as the API names them.
func (in ListInput) told() map[string]any {
	filter := map[string]any{}
	for f, value := range reflect.ValueOf(in).Fields() {
		if name := f.Tag.Get("query"); name != "" && !value.IsZero() {
			filter[name] = value.Interface()
		}
	}
	return filter
}

// read reads the piece after a cursor; the first counts what matches.
func (t *Table) read(ctx context.Context, after string) (err error) {
	ctx, cancel := context.WithTimeout(ctx, maxPiece)
	defer cancel()
	t.in.SetWindow(t.size, after, t.in.Sort, after == "")
	if t.next, _, err = op.Run(ctx, t.engine, Export, t.in, (op.Call{}).Checked()); err != nil {
		return err
	}
	t.size = min(exportedAtOnce, max(1, 2*len(t.next.Rows))) // long rows are often followed by long ones
	return nil
}

// Rows calls write with the headings and then with each row, and sent after each piece. A line is write's until it returns.
func (t *Table) Rows(ctx context.Context, write func(line []string) error, sent func() error) error {
	line := make([]string, len(columns))
	for i, c := range columns {
		line[i] = c.name
	}
	if err := write(line); err != nil {
		return err
	}
	for n := 0; ; {
		for _, r := range t.next.Rows[:min(len(t.next.Rows), MaxExport-n)] {
			for i, c := range columns {
				line[i] = text.Cell(c.of(r, t.next.Names))
			}
			if err := write(line); err != nil {
				return err
			}
			n++
		}
		if err := sent(); err != nil || !t.next.More || n == MaxExport {
			return err
		}
		if err := t.read(ctx, t.next.Cursor(t.next.Rows[len(t.next.Rows)-1])); err != nil {
			return err
		}
	}
}

// column is a column of the table.
type column struct {
	name string
	of   func(r *ent.Request, names map[string]string) string
}

var columns = []column{
	{"number", func(r *ent.Request, _ map[string]string) string { return strconv.FormatInt(r.Number, 10) }},
	{"id", func(r *ent.Request, _ map[string]string) string { return r.ID }},
	{"title", func(r *ent.Request, _ map[string]string) string { return r.Title }},
	{"status", func(r *ent.Request, _ map[string]string) string { return string(r.Status) }},
	{"priority", func(r *ent.Request, _ map[string]string) string { return string(r.Priority) }},
	{"service", func(r *ent.Request, names map[string]string) string { return names[r.ServiceID] }},
	{"offering", func(r *ent.Request, names map[string]string) string { return names[r.OfferingID] }},
	{"requester", func(r *ent.Request, names map[string]string) string { return names[r.RequesterID] }},
	{"createdBy", func(r *ent.Request, names map[string]string) string { return names[r.CreatedBy] }},
	{"assignee", func(r *ent.Request, names map[string]string) string { return names[op.Or(r.AssigneeID, "")] }},
	{"team", func(r *ent.Request, names map[string]string) string { return names[op.Or(r.TeamID, "")] }},
	{"createdAt", func(r *ent.Request, _ map[string]string) string { return timeCell(&r.CreatedAt) }},
	{"updatedAt", func(r *ent.Request, _ map[string]string) string { return timeCell(&r.UpdatedAt) }},
	{"firstResponseAt", func(r *ent.Request, _ map[string]string) string { return timeCell(respondedAt(r)) }},
	{"acceptedAt", func(r *ent.Request, _ map[string]string) string { return timeCell(r.AcceptedAt) }},
	{"completedAt", func(r *ent.Request, _ map[string]string) string { return timeCell(r.CompletedAt) }},
	{"cancelledAt", func(r *ent.Request, _ map[string]string) string { return timeCell(r.CancelledAt) }},
	{"responseDueAt", func(r *ent.Request, _ map[string]string) string { return timeCell(r.ResponseDueAt) }},
	{"resolutionDueAt", func(r *ent.Request, _ map[string]string) string { return timeCell(r.ResolutionDueAt) }},
	{"slaState", func(r *ent.Request, _ map[string]string) string { return string(op.Or(r.SLAState, "")) }},
	{"reopenCount", func(r *ent.Request, _ map[string]string) string { return strconv.Itoa(r.ReopenCount) }},
	{"satisfaction", func(r *ent.Request, _ map[string]string) string {
		if r.Satisfaction == nil {
			return ""
		}
		return strconv.Itoa(*r.Satisfaction)
	}},
	{"tags", func(r *ent.Request, _ map[string]string) string { return tagsLine(r.Tags) }},
	{"fields", func(r *ent.Request, names map[string]string) string { return fieldsCell(r.Fields, names) }},
	{"description", func(r *ent.Request, _ map[string]string) string { return r.Description }},
}

// timeCell writes a time as the API does; nothing for nil.
func timeCell(t *time.Time) string {
	if t == nil {
		return ""
	}
	return t.UTC().Format(clock.Format)
}

// tagsLine writes tags in the order of their keys: "env=prod; site=berlin".
func tagsLine(tags map[string]string) string {
	var parts []string
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		parts = append(parts, key+"="+tags[key])
	}
	return strings.Join(parts, "; ")
}

// objectLine writes answers as they are stored; nothing for none.
func objectLine(raw json.RawMessage) string {
	if s := string(raw); s != "null" && s != "{}" {
		return s
	}
	return ""
}
