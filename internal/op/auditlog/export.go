package auditlog

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"entgo.io/ent/dialect/sql"

	"atrium/ent"
	"atrium/ent/auditentry"
	"atrium/internal/op"
	"atrium/internal/op/audit"
	"atrium/internal/op/audit/merkle"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/clock"
	"atrium/internal/platform/store"
	"atrium/internal/platform/text"
)

// The limits of one export. Older entries need another export with a lower `to`.
const (
	MaxExport      = 10_000
	MaxExportBytes = 16 << 20 // of the entries' changes
	exportedAtOnce = 500      // entries in one statement
)

// An export consists of two operations. Export records in a transaction who exports what. ReadExport then reads the entries
// outside a transaction, because they may be many. For the same reason an idempotency key stores the moment of an export and not
// its text: a repeat reads the entries up to that moment, which are the same but for erasures and newer proofs.
var (
	Export = op.New("audit.export", op.Spec{
		Resource: "AuditEntry", Action: op.Create, Scope: "audit:read",
		Summary: "Record that audit entries are taken out",
	}, export)

	ReadExport = op.New("audit.read_export", op.Spec{
		Resource: "AuditEntry", Action: op.Read, Scope: "audit:read",
		Summary: "Write audit entries as one text",
	}, readExport)
)

// ExportInput selects the entries and the format.
type ExportInput struct {
	ListEntriesInput
	Format string `json:"format" enum:"csv,jsonl" doc:"A table with a line of headings, or one JSON object a line."`
}

// Exported is an export of audit entries as one text.
type Exported struct {
	Format    string
	Content   string
	Count     int  // number of entries
	Truncated bool // older entries match too
}

// Recorded is an export that is in the log.
type Recorded struct {
	At time.Time // the newest entries that it contains are of this moment
}

// AsOf returns the input without the entries that are newer than a recorded export.
func (in ExportInput) AsOf(r Recorded) ExportInput {
	if end := r.At.Add(time.Millisecond); in.To == nil || end.Before(*in.To) { // entries have whole milliseconds
		in.To = &end
	}
	return in
}

func export(ctx context.Context, tx *op.Tx, in ExportInput) (Recorded, error) {
	filter := map[string]any{}
	for name, values := range map[string][]string{
		"actorId": in.ActorID, "action": in.Action, "resourceType": in.ResourceType, "resourceId": in.ResourceID, "outcome": in.Outcome,
	} {
		if len(values) > 0 {
			filter[name] = values
		}
	}
	if in.From != nil {
		filter["from"] = in.From.UTC().Format(clock.Format)
	}
	if in.To != nil {
		filter["to"] = in.To.UTC().Format(clock.Format)
	}
	tx.ChangedField("filter", nil, filter)
	tx.ChangedField("format", nil, in.Format)
	return Recorded{tx.Now(ctx)}, nil
}

// readExport returns the newest entries that match, newest first.
func readExport(ctx context.Context, tx *op.Tx, in ExportInput) (*Exported, error) {
	leave, err := exporting.Take(ctx, tx.Principal().CompanyID)
	if err != nil {
		return nil, apperr.Wrap(err, apperr.Unavailable, "Others are exporting at the moment. Try again shortly.")
	}
	defer leave()
	rows, more, err := readNewest(ctx, tx, in)
	if err != nil {
		return nil, err
	}
	out := &Exported{Format: in.Format, Count: len(rows), Truncated: more}
	if in.Format == "csv" {
		out.Content, err = asCSV(rows)
	} else {
		var places []merkle.ExportProof
		if places, err = exportProofs(ctx, tx, rows); err == nil {
			out.Content, err = asJSONL(rows, places)
		}
	}
	if err == nil {
		err = store.Charge(ctx, len(out.Content))
	}
	return out, err
}

// readNewest returns the entries up to the limits, newest first, and whether older ones match too.
func readNewest(ctx context.Context, tx *op.Tx, in ExportInput) (rows []*ent.AuditEntry, more bool, err error) {
	size, where, most := 0, in.where(), exportedAtOnce
	for {
		batch, err := tx.AuditEntry.Query().Where(where...).Order(ent.Desc(auditentry.FieldCreatedAt, auditentry.FieldID)).
			Limit(most).All(store.Within(ctx, MaxExportBytes))
		if errors.Is(err, store.ErrLong) && most > 1 {
			most = max(1, most/4)
			continue
		}
		if err != nil {
			return nil, false, fmt.Errorf("read the entries: %w", err)
		}
		for _, e := range batch {
			size += len(e.Changes)
			if len(rows) == MaxExport || size > MaxExportBytes {
				return rows, true, nil
			}
			rows = append(rows, e)
		}
		if len(batch) < most {
			return rows, false, nil
		}
		last := batch[len(batch)-1]
		where = append(in.where(), func(s *sql.Selector) {
			s.Where(sql.CompositeLT([]string{s.C(auditentry.FieldCreatedAt), s.C(auditentry.FieldID)}, last.CreatedAt.UTC(), last.ID))
		})
	}
}

// column is a column of an export. A dot in its name stands for a nested object in JSON.
type column struct {
	name string
	of   func(*ent.AuditEntry) any
}

var columns = []column{
	{"id", func(e *ent.AuditEntry) any { return e.ID }},
	{"at", func(e *ent.AuditEntry) any { return e.CreatedAt.UTC().Format(clock.Format) }},
	{"actor.type", func(e *ent.AuditEntry) any { return e.ActorType }},
	{"actor.id", func(e *ent.AuditEntry) any { return e.ActorID }},
	{"actor.name", func(e *ent.AuditEntry) any { return e.ActorName }},
	{"action", func(e *ent.AuditEntry) any { return e.Action }},
	{"resource.type", func(e *ent.AuditEntry) any { return e.ResourceType }},
	{"resource.id", func(e *ent.AuditEntry) any { return op.Or(e.ResourceID, "") }},
	{"outcome", func(e *ent.AuditEntry) any { return string(e.Outcome) }},
	{"ip", func(e *ent.AuditEntry) any { return e.IP }},
	{"userAgent", func(e *ent.AuditEntry) any { return e.UserAgent }},
	{"requestId", func(e *ent.AuditEntry) any { return e.RequestID }},
	{"changes", func(e *ent.AuditEntry) any {
		if len(e.Changes) == 0 {
			return json.RawMessage("{}")
		}
		return e.Changes
	}},
}

// asCSV writes a CSV table.
func asCSV(rows []*ent.AuditEntry) (string, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	line := make([]string, len(columns))
	for i, c := range columns {
		line[i] = c.name
	}
	if err := w.Write(line); err != nil {
		return "", fmt.Errorf("write the headings: %w", err)
	}
	for _, row := range rows {
		for i, c := range columns {
			line[i] = ""
			switch v := c.of(row).(type) {
			case json.RawMessage:
				line[i] = string(v)
			case string:
				line[i] = text.Cell(v)
			}
		}
		if err := w.Write(line); err != nil {
			return "", fmt.Errorf("write a line: %w", err)
		}
	}
	w.Flush()
	if err := w.Error(); err != nil {
		return "", fmt.Errorf("write the table: %w", err)
	}
	return b.String(), nil
}

// exportProofs returns the proof fields of each entry, all for one checkpoint, which the first sealed entry contains.
func exportProofs(ctx context.Context, tx *op.Tx, rows []*ent.AuditEntry) ([]merkle.ExportProof, error) {
	p, err := proverOf(ctx, tx, rows...)
	if err != nil {
		return nil, err
	}
	out := make([]merkle.ExportProof, len(rows))
	var sealed []int // indexes into rows
	var indexes []int64
	for i, row := range rows {
		if row.Index == nil || *row.Index >= p.Size {
			continue
		}
		leaf, err := audit.Leaf(row)
		if err != nil {
			return nil, fmt.Errorf("write the leaf of %s: %w", row.ID, err)
		}
		out[i] = merkle.ExportProof{
			Index: row.Index, LeafHash: row.LeafHash, Leaf: leaf, Size: p.Size, Seals: merkle.Seals{Actor: row.ActorSeal, Changes: row.ChangesSeal},
		}
		sealed, indexes = append(sealed, i), append(indexes, *row.Index)
	}
	proofs, err := p.Prove(indexes)
	if err != nil || len(sealed) == 0 {
		return out, err
	}
	for j, i := range sealed {
		out[i].Path = proofs[j].Path
	}
	out[sealed[0]].Checkpoint, err = sign(ctx, tx, p.Checkpoint)
	return out, err
}

// asJSONL writes one JSON object a line: the fields of an entry as in REST, and its proof. Empty values are null.
func asJSONL(rows []*ent.AuditEntry, places []merkle.ExportProof) (string, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	for i, row := range rows {
		line := map[string]any{}
		if err := flatten(line, places[i]); err != nil {
			return "", err
		}
		for _, c := range columns {
			v := c.of(row)
			if v == "" {
				v = nil
			}
			outer, inner, nested := strings.Cut(c.name, ".")
			if !nested {
				line[outer] = v
				continue
			}
			object, ok := line[outer].(map[string]any)
			if !ok {
				object = map[string]any{}
				line[outer] = object
			}
			object[inner] = v
		}
		if err := enc.Encode(line); err != nil {
			return "", fmt.Errorf("write a line: %w", err)
		}
	}
	return b.String(), nil
}

// flatten adds the proof fields to a line.
func flatten(line map[string]any, place merkle.ExportProof) error {
	b, err := json.Marshal(place)
	if err != nil {
		return fmt.Errorf("write a place: %w", err)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(b, &fields); err != nil {
		return fmt.Errorf("write a place: %w", err)
	}
	for name, value := range fields {
		line[name] = value
	}
	return nil
}
