package requestimport

import (
	"encoding/csv"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"atrium/internal/platform/apperr"
)

// The bounds of a table.
const (
	maxRows    = 5000
	maxColumns = 200
)

// The fields that a column may be. "fields." and a key name an answer to the form.
const (
	isKey, isTitle, isDescription, isStatus, isPriority = "key", "title", "description", "status", "priority"
	isService, isOffering, isTags, isFields             = "service", "offering", "tags", "fields"
	isRequester, isAssignee, isTeam                     = "requester", "assignee", "team"
	isCreated, isAccepted, isCompleted, isCancelled     = "createdAt", "acceptedAt", "completedAt", "cancelledAt"
	answerPrefix                                        = "fields."
	leftOut                                             = ""
)

var columnFields = []string{
	isKey, isTitle, isDescription, isStatus, isPriority, isService, isOffering, isTags, isFields, isRequester, isAssignee, isTeam,
	isCreated, isAccepted, isCompleted, isCancelled,
}

// headings are what other systems, and our own table, call a field, in lower case and letters alone.
var headings = map[string]string{
	"key": isKey, "issuekey": isKey, "number": isKey, "id": isKey, "issueid": isKey, "ticketid": isKey, "ticketnumber": isKey, "nummer": isKey,
	"title": isTitle, "summary": isTitle, "subject": isTitle, "shortdescription": isTitle, "titel": isTitle, "betreff": isTitle,
	"description": isDescription, "details": isDescription, "body": isDescription, "beschreibung": isDescription,
	"status": isStatus, "state": isStatus, "priority": isPriority, "priorität": isPriority,
	"service": isService, "offering": isOffering, "requesttype": isOffering, "angebot": isOffering,
	"tags": isTags, "labels": isTags, "fields": isFields,
	"requester": isRequester, "reporter": isRequester, "requesteremail": isRequester, "customer": isRequester, "openedby": isRequester, "melder": isRequester,
	"assignee": isAssignee, "assignedto": isAssignee, "owner": isAssignee, "agent": isAssignee, "bearbeiter": isAssignee,
	"team": isTeam, "group": isTeam, "assignmentgroup": isTeam, "gruppe": isTeam,
	"createdat": isCreated, "created": isCreated, "opened": isCreated, "openedat": isCreated, "erstellt": isCreated,
	"acceptedat": isAccepted, "completedat": isCompleted, "resolved": isCompleted, "resolvedat": isCompleted, "solvedat": isCompleted,
	"closed": isCompleted, "closedat": isCompleted, "gelöst": isCompleted, "cancelledat": isCancelled,
}

// table is a CSV text, with what each of its columns is.
type table struct {
	headings []string
	fields   []string // by column; leftOut for one that is not read
	rows     [][]string
}

// column returns the heading of the column that is a field, and its place; -1 for none.
func (t *table) column(field string) (string, int) {
	if i := slices.Index(t.fields, field); i >= 0 {
		return t.headings[i], i
	}
	return "", -1
}

// columns says what each heading was taken for.
func (t *table) columns() map[string]string {
	out := map[string]string{}
	for i, h := range t.headings {
		if out[h] == leftOut {
			out[h] = t.fields[i]
		}
	}
	return out
}

// readTable reads a table. given says what some headings are; the others are known by their names. Returns validation_error.
func readTable(content string, given map[string]string) (*table, error) {
	content = strings.TrimPrefix(content, "\ufeff")
	if !utf8.ValidString(content) || strings.ContainsRune(content, 0) {
		return nil, apperr.InvalidField("csv", "must be text in UTF-8")
	}
	lines := csv.NewReader(strings.NewReader(content))
	lines.Comma, lines.FieldsPerRecord = separator(content), -1
	first, err := lines.Read()
	if err != nil {
		return nil, unreadable(err)
	}
	if len(first) > maxColumns {
		return nil, apperr.InvalidField("csv", "must have at most %d columns", maxColumns)
	}
	t := &table{headings: first, fields: make([]string, len(first))}
	if err := t.recognize(given); err != nil {
		return nil, err
	}
	for {
		row, err := lines.Read()
		switch {
		case errors.Is(err, io.EOF):
			return t, t.check()
		case err != nil:
			return nil, unreadable(err)
		case len(row) > len(first):
			return nil, apperr.InvalidField("csv", "must have no more cells in a row than headings: row %d has %d", len(t.rows)+2, len(row))
		case len(t.rows) == maxRows:
			return nil, apperr.InvalidField("csv", "must have at most %d rows: bring in a larger table in parts", maxRows)
		}
		t.rows = append(t.rows, row)
	}
}

// check returns a validation error for a table that has nothing to bring in.
func (t *table) check() error {
	if len(t.rows) == 0 {
		return apperr.InvalidField("csv", "must have a row below the headings")
	}
	if _, at := t.column(isTitle); at < 0 {
		return apperr.InvalidField("columns", "must say which column is the title: none is called so")
	}
	return nil
}

func unreadable(err error) error {
	if at, ok := errors.AsType[*csv.ParseError](err); ok {
		return apperr.InvalidField("csv", "must be a CSV table: line %d cannot be read: %s", at.Line, at.Err)
	}
	return apperr.InvalidField("csv", "must have a line of headings")
}

// separator is what stands most often in the headings: spreadsheets of some languages write semicolons.
func separator(content string) rune {
	line, _, _ := strings.Cut(content, "\n")
	best := ','
	for _, r := range ";\t" {
		if strings.Count(line, string(r)) > strings.Count(line, string(best)) {
			best = r
		}
	}
	return best
}

// recognize says what each column is: what was given, and then the first heading of each name.
func (t *table) recognize(given map[string]string) error {
	var faults []apperr.Detail
	taken := map[string]bool{}
	for _, h := range slices.Sorted(maps.Keys(given)) {
		field, at := given[h], slices.Index(t.headings, h)
		switch key, answer := strings.CutPrefix(field, answerPrefix); {
		case at < 0:
			faults = append(faults, apperr.Detail{Field: "columns." + h, Message: "is no heading of the table"})
		case field != leftOut && !slices.Contains(columnFields, field) && (!answer || key == ""):
			faults = append(faults, apperr.Detail{Field: "columns." + h, Message: "must be one of " + strings.Join(columnFields, ", ") + ", fields.KEY, or empty"})
		case field != leftOut && taken[field]:
			faults = append(faults, apperr.Detail{Field: "columns." + h, Message: "must not be " + field + ", which another column is"})
		default:
			t.fields[at], taken[field] = field, true
		}
	}
	for i, h := range t.headings {
		field := known(h)
		if _, said := given[h]; !said && field != leftOut && !taken[field] {
			t.fields[i], taken[field] = field, true
		}
	}
	if len(faults) > 0 {
		return apperr.Invalid(faults...)
	}
	return nil
}

// known returns the field that a heading names by itself.
func known(heading string) string {
	if strings.HasPrefix(heading, answerPrefix) && len(heading) > len(answerPrefix) {
		return heading
	}
	return headings[letters(heading)]
}
