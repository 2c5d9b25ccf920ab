package auditlog

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"strings"

	"atrium/ent"
	"atrium/ent/auditentry"
	"atrium/internal/clock"
	"atrium/internal/op"
)

// MaxExport bounds the entries of one export. What is beyond it takes another one, by `to`.
const MaxExport = 10_000

// An export is two operations: the first records who took what, in a transaction; the second reads the entries, outside
// of any, since they may be many.
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

// ExportInput says which entries are taken, and in what form.
type ExportInput struct {
	ListEntriesInput
	Format string `json:"format" enum:"csv,jsonl" doc:"A table with a line of headings, or one JSON object a line."`
}

// Exported are audit entries as one text.
type Exported struct {
	Format    string
	Content   string
	Count     int  // of entries
	Truncated bool // there are older ones that match
}

func export(_ context.Context, tx *op.Tx, in ExportInput) (ExportInput, error) {
	filter := map[string]any{}
	for name, values := range map[string][]string{
		"actorId": in.ActorID, "action": in.Action, "resourceType": in.ResourceType, "resourceId": in.ResourceID,
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
	return in, nil
}

// readExport writes the newest entries that match, the newest first.
func readExport(ctx context.Context, tx *op.Tx, in ExportInput) (*Exported, error) {
	rows, err := tx.AuditEntry.Query().Where(in.where()...).
		Order(ent.Desc(auditentry.FieldCreatedAt, auditentry.FieldID)).Limit(MaxExport + 1).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the entries: %w", err)
	}
	out := &Exported{Format: in.Format, Count: len(rows)}
	if out.Truncated = len(rows) > MaxExport; out.Truncated {
		rows = rows[:MaxExport]
		out.Count = MaxExport
	}
	write := asCSV
	if in.Format == "jsonl" {
		write = asJSONL
	}
	out.Content, err = write(rows)
	return out, err
}

// column is what an export says of an entry under a name; a dot in it stands for an object in JSON.
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

// asCSV writes a table. A text that a spreadsheet would take for a formula gets an apostrophe in front.
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
				if line[i] = v; v != "" && strings.ContainsRune("=+-@\t\r", rune(v[0])) {
					line[i] = "'" + v
				}
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

// asJSONL writes an object a line, as REST shows an entry; what is empty is null.
func asJSONL(rows []*ent.AuditEntry) (string, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	for _, row := range rows {
		line := map[string]any{}
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
