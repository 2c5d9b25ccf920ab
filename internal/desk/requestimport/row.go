package requestimport

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"

	"atrium/ent"
	"atrium/internal/desk/form"
	"atrium/internal/desk/request"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/id"
	"atrium/internal/platform/strictjson"
)

// The tags that keep where a request comes from.
const (
	tagKey, tagSource         = "import.id", "import.source"
	tagRequester, tagAssignee = "import.requester", "import.assignee"
)

// Fault is what is wrong with a row.
type Fault struct {
	Row     int    `json:"row"`    // as spreadsheets count, whose first row has the headings
	Column  string `json:"column"` // its heading; empty where the table has no such column
	Message string `json:"message"`
}

// item is a row that has been read.
type item struct {
	row      int
	in       request.ImportInput
	offering *ent.Offering
	faults   []*Fault
	known    bool // there is such a request already
}

// reading reads one row.
type reading struct {
	*plan
	cells []string
	item  *item
}

// read makes a request of a row; what is wrong with it stands in the item's faults.
func (p *plan) read(n int) item {
	it := item{row: n + 2}
	r := reading{p, p.table.rows[n], &it}
	key := r.text(isKey)
	it.in = request.ImportInput{
		Title: r.text(isTitle), Description: r.text(isDescription), Format: "plain", Tags: r.tags(key),
		Status:   r.word(isStatus, r.settings.Statuses, statuses, "PENDING"),
		Priority: r.word(isPriority, r.settings.Priorities, priorities, "MEDIUM"),
	}
	if key != "" {
		it.in.ID = id.Of("req", p.companyID, p.settings.Source, key)
	}
	r.times()
	r.target()
	r.who()
	if it.offering != nil {
		it.in.Fields = r.answers()
	}
	r.bounds()
	return it
}

// text returns the row's cell of a field without the blanks around it, and without the apostrophe that keeps spreadsheets from taking
// it for a formula.
func (r reading) text(field string) string {
	_, at := r.table.column(field)
	if at < 0 || at >= len(r.cells) {
		return ""
	}
	s := strings.TrimSpace(r.cells[at])
	if len(s) > 1 && s[0] == '\'' && strings.ContainsRune("=+-@", rune(s[1])) {
		return s[1:]
	}
	return s
}

func (r reading) fault(field, format string, args ...any) {
	heading, _ := r.table.column(field)
	said := apperr.InvalidField(field, format, args...).Details[0].Message
	r.item.faults = append(r.item.faults, &Fault{r.item.row, heading, said})
}

// bounds names what no request may have: the rules of its input.
func (r reading) bounds() {
	details, err := request.Import.Info().Input.Check(r.item.in)
	if err != nil {
		details = []apperr.Detail{{Message: "cannot be read"}}
	}
	for _, d := range details {
		field, _, _ := strings.Cut(d.Field, ".")
		if field == isStatus || field == isPriority {
			continue // named already
		}
		r.fault(field, "%s", d.Message)
	}
}

// The words of other systems, in lower case and letters alone.
var (
	statuses = words(map[string]string{
		"PENDING": "pending new open todo submitted backlog offen neu", "IN_PROGRESS": "inprogress accepted active working waiting onhold inbearbeitung",
		"COMPLETED": "completed complete done closed resolved solved fixed erledigt geschlossen gelöst",
		"CANCELLED": "cancelled canceled declined rejected withdrawn wontdo wontfix duplicate abgebrochen abgelehnt",
	})
	priorities = words(map[string]string{
		"LOW": "low lowest minor trivial planning niedrig", "MEDIUM": "medium normal moderate mittel", "HIGH": "high major hoch",
		"URGENT": "urgent critical highest blocker dringend kritisch",
	})
)

func words(of map[string]string) map[string]string {
	out := map[string]string{}
	for value, all := range of {
		for word := range strings.FieldsSeq(all) {
			out[word] = value
		}
	}
	return out
}

// word returns what a cell stands for: by the map that was given, then by the words that are known; otherwise that of an empty cell.
func (r reading) word(field string, given, known map[string]string, empty string) string {
	s := r.text(field)
	if s == "" {
		return empty
	}
	if to, ok := given[s]; ok {
		return to
	}
	if to, ok := known[letters(s)]; ok {
		return to
	}
	values := slices.Compact(slices.Sorted(maps.Values(known)))
	r.fault(field, "must be one of %s, or have its meaning given", strings.Join(values, ", "))
	return empty
}

// letters returns the letters of a text in lower case: "In Progress" and "in_progress" are the same word.
func letters(s string) string {
	return strings.Map(func(c rune) rune {
		if !unicode.IsLetter(c) {
			return -1
		}
		return unicode.ToLower(c)
	}, s)
}

// tags reads the row's own, as "site=berlin; urgent", and adds where it comes from.
func (r reading) tags(key string) map[string]string {
	out := map[string]string{tagSource: r.settings.Source}
	for _, part := range strings.FieldsFunc(r.text(isTags), func(c rune) bool { return c == ';' || c == ',' }) {
		if name, value, _ := strings.Cut(strings.TrimSpace(part), "="); name != "" {
			out[strings.TrimSpace(name)] = strings.TrimSpace(value)
		}
	}
	if key != "" {
		out[tagKey] = key
	}
	return out
}

// layouts are the times that are understood besides RFC 3339; those without an offset are in the zone of the import.
var layouts = []string{
	time.RFC3339Nano, "2006-01-02T15:04:05-0700", "2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05 -0700", "2006-01-02 15:04Z07:00", time.RFC1123Z, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02 15:04", time.DateOnly,
	"02/Jan/06 3:04 PM", "02.01.2006 15:04:05", "02.01.2006 15:04", "02.01.2006",
}

// time reads a cell as a time that has been; nil for an empty one.
func (r reading) time(field string) *time.Time {
	s := r.text(field)
	if s == "" {
		return nil
	}
	if of, ok := strings.CutSuffix(s, " UTC"); ok {
		s = of + "Z"
	}
	for _, layout := range layouts {
		t, err := time.ParseInLocation(layout, s, r.zone)
		if err != nil {
			continue
		}
		if t.Year() < 1970 || t.After(r.now) {
			r.fault(field, "must be between 1970 and now")
			return nil
		}
		return new(t.UTC().Truncate(time.Microsecond))
	}
	r.fault(field, "must be a time, such as 2026-11-28 14:05 or 2026-11-28T14:05:00Z")
	return nil
}

// times reads when the request was filed and what followed.
func (r reading) times() {
	in := &r.item.in
	in.CreatedAt = r.now
	if t := r.time(isCreated); t != nil {
		in.CreatedAt = *t
	}
	in.AcceptedAt, in.EndedAt = r.time(isAccepted), r.time(isCompleted)
	ended := isCompleted
	if t := r.time(isCancelled); t != nil && in.Status == "CANCELLED" {
		in.EndedAt, ended = t, isCancelled
	}
	for field, t := range map[string]*time.Time{isAccepted: in.AcceptedAt, ended: in.EndedAt} {
		if t != nil && t.Before(in.CreatedAt) {
			r.fault(field, "must not be before the request was created")
		}
	}
}

// answers reads the answers to the form: a column of JSON, and a column for each.
func (r reading) answers() strictjson.Object {
	out := strictjson.Object{}
	if s := r.text(isFields); s != "" {
		if err := out.UnmarshalJSON([]byte(s)); err != nil {
			r.fault(isFields, "must be a JSON object")
			return nil
		}
	}
	types := map[string]form.Type{}
	if r.item.offering.Form != nil {
		for _, f := range r.item.offering.Form.Fields {
			types[f.Key] = f.Type
		}
	}
	for key := range out {
		if types[key] == form.File {
			r.fault(isFields, "must not have an answer %s: it is a question for files, which a table does not bring", key)
			delete(out, key)
		}
	}
	for _, field := range r.table.fields {
		key, isAnswer := strings.CutPrefix(field, answerPrefix)
		switch s := r.text(field); {
		case !isAnswer || s == "":
		case types[key] == form.File:
			r.fault(field, "is a question for files, which a table does not bring: leave the column out")
		default:
			out[key] = answer(types[key], s)
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// answer reads a cell as an answer of a type; what cannot be one stays a text, which the form then names.
func answer(as form.Type, s string) any {
	switch as {
	case form.Number:
		if json.Valid([]byte(s)) {
			return json.Number(s)
		}
	case form.Boolean:
		switch strings.ToLower(s) {
		case "true", "yes", "ja", "1":
			return true
		case "false", "no", "nein", "0":
			return false
		}
	case form.MultiSelect:
		var out []any
		for part := range strings.SplitSeq(s, ";") {
			out = append(out, strings.TrimSpace(part))
		}
		return out
	}
	return s
}
