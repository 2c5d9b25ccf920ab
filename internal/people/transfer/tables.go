package transfer

import (
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"entgo.io/ent/dialect/sql/schema"
	"entgo.io/ent/schema/field"

	"atrium/ent/account"
	"atrium/ent/authrequest"
	"atrium/ent/company"
	"atrium/ent/factor"
	"atrium/ent/grant"
	"atrium/ent/idempotencykey"
	"atrium/ent/mailedlink"
	"atrium/ent/recoverycode"
	"atrium/ent/refreshtoken"
	"atrium/ent/requesttag"
	"atrium/ent/rowcount"
	"atrium/ent/searchdocument"
	entsecret "atrium/ent/secret"
	"atrium/ent/session"
	"atrium/ent/user"
	"atrium/internal/op"
	"atrium/internal/platform/store"
	"atrium/internal/secret"
)

// stay lists the company tables that do not move. Triggers make the rows of the last three with the rows that they are about.
var stay = []string{session.Table, grant.Table, refreshtoken.Table, mailedlink.Table, authrequest.Table, rowcount.Table, requesttag.Table, searchdocument.Table}

// kinds lists the jobs that move: those whose arguments have the company. A file may name any kind, and the installation's own jobs
// are not a company's to insert.
var kinds = []string{
	"agent_consulted", "agent_evaluate", "agent_expiry", "agent_intake", "agent_lease", "agent_phase", "agent_push", "agent_release", "agent_run",
	"agent_task", "agent_think", "attachment_scan", "digest_mails", "erase_person", "execution_call", "execution_notice", "execution_step", "inbound_fetch", "inbound_mail",
	"notice", "notice_progress", "notice_quarantined", "people_handover", "report_mail", "request_follow_up", "request_import", "schedule_replan", "schedule_run", "sla_breach", "sla_notice", "sla_rederive", "webhook", "webhook_replay",
}

// accountTables lists the tables without a company that move with a company's people, and the column of each that names the account.
var accountTables = map[string]string{account.Table: account.FieldID, factor.Table: factor.FieldAccountID, recoverycode.Table: recoverycode.FieldAccountID}

// tables lists the tables that move. Each comes after the tables that its foreign keys refer to.
var tables = ordered()

func ordered() (out []*schema.Table) {
	for _, t := range store.Tables {
		add(&out, t)
	}
	return out
}

func add(out *[]*schema.Table, t *schema.Table) {
	_, owned := t.Column("company_id")
	if owned = owned || t.Name == company.Table || accountTables[t.Name] != ""; !owned || slices.Contains(stay, t.Name) || slices.Contains(*out, t) {
		return
	}
	for _, fk := range t.ForeignKeys {
		if fk.RefTable != t {
			add(out, fk.RefTable)
		}
	}
	if id, ok := t.Column("id"); ok && id.Type.Numeric() { // means nothing, and may be taken here
		t = &schema.Table{Name: t.Name, ForeignKeys: t.ForeignKeys, Columns: slices.DeleteFunc(slices.Clone(t.Columns), func(c *schema.Column) bool { return c == id })}
	}
	*out = append(*out, t)
}

// where returns the condition that selects the rows of two companies.
func where(t *schema.Table) string {
	switch column, personal := accountTables[t.Name]; {
	case personal:
		return column + " IN (SELECT " + user.FieldAccountID + " FROM " + user.Table + " WHERE company_id IN (?, ?))"
	case t.Name == company.Table:
		return "id IN (?, ?)"
	}
	return "company_id IN (?, ?)"
}

func names(t *schema.Table) []string {
	out := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		out[i] = c.Name
	}
	return out
}

// ownParent returns the column of a foreign key from a table to itself; empty if there is none.
func ownParent(t *schema.Table) string {
	for _, fk := range t.ForeignKeys {
		if fk.RefTable == t {
			return fk.Columns[len(fk.Columns)-1].Name
		}
	}
	return ""
}

// isSealed reports whether a row's value in a column is encrypted under the master key.
func isSealed(t *schema.Table, c *schema.Column, row map[string]any) bool {
	if t.Name == idempotencykey.Table && c.Name == idempotencykey.FieldBody {
		text, _ := row[idempotencykey.FieldHeader].([]byte)
		var header map[string]string
		return json.Unmarshal(text, &header) == nil && header[op.SealedHeader] != ""
	}
	return strings.HasSuffix(c.Name, "sealed")
}

// boundTo returns the associated data to which the sealed values of a row are bound.
func boundTo(t *schema.Table, row map[string]any) []byte {
	id, _ := row["id"].(string)
	switch t.Name {
	case entsecret.Table:
		owner, _ := row["company_id"].(string)
		version, _ := row["version"].(int64)
		return secret.BoundTo(owner, id, int(version))
	case idempotencykey.Table:
		fingerprint, _ := row[idempotencykey.FieldFingerprint].([]byte)
		return fingerprint
	}
	return []byte(id)
}

// place returns a destination for scanning a column's value.
func place(c *schema.Column) any {
	switch c.Type {
	case field.TypeTime:
		return new(sql.NullTime)
	case field.TypeBool:
		return new(sql.NullBool)
	case field.TypeFloat64:
		return new(sql.NullFloat64)
	case field.TypeBytes, field.TypeJSON:
		return new([]byte)
	}
	if c.Type.Numeric() {
		return new(sql.NullInt64)
	}
	return new(sql.NullString)
}

// scanned returns the value of a destination: nil, string, time.Time, bool, int64, float64 or []byte.
func scanned(at any) any {
	switch at := at.(type) {
	case *sql.NullString:
		if at.Valid {
			return at.String
		}
	case *sql.NullTime:
		if at.Valid {
			return at.Time.UTC()
		}
	case *sql.NullBool:
		if at.Valid {
			return at.Bool
		}
	case *sql.NullFloat64:
		if at.Valid {
			return at.Float64
		}
	case *sql.NullInt64:
		if at.Valid {
			return at.Int64
		}
	case *[]byte:
		if *at != nil {
			return *at
		}
	}
	return nil
}

// written returns a value as the file holds it.
func written(c *schema.Column, v any) any {
	switch v := v.(type) {
	case time.Time:
		return v.Format(time.RFC3339Nano)
	case []byte:
		if c.Type == field.TypeJSON {
			return string(v)
		}
		return base64.StdEncoding.EncodeToString(v)
	}
	return v
}

// read returns a value of the file as the database accepts it. The error says what the value must be.
func read(c *schema.Column, raw json.RawMessage) (any, error) {
	if string(raw) == "null" {
		if c.Type == field.TypeBytes && !c.Nullable {
			return []byte{}, nil // as SQLite reads an empty value
		}
		return nil, nil // null is a value
	}
	var text string
	if raw[0] == '"' {
		if err := json.Unmarshal(raw, &text); err != nil {
			return nil, errors.New("must be text")
		}
	}
	var v any
	var err error
	must := "must be text"
	switch {
	case c.Type == field.TypeTime:
		must = "must be a time"
		v, err = time.Parse(time.RFC3339Nano, text)
	case c.Type == field.TypeBool:
		must = "must be true or false"
		v, err = strconv.ParseBool(string(raw))
	case c.Type == field.TypeFloat64:
		must = "must be a number"
		v, err = strconv.ParseFloat(string(raw), 64)
	case c.Type == field.TypeBytes:
		must = "must be base64"
		v, err = base64.StdEncoding.DecodeString(text)
	case c.Type.Numeric():
		must = "must be a whole number"
		v, err = strconv.ParseInt(string(raw), 10, bits(c.Type))
	case raw[0] != '"':
		err = errors.New(must)
	case c.Type == field.TypeJSON:
		return []byte(text), nil // as Ent passes JSON to the database
	default:
		return text, nil
	}
	if err != nil {
		return nil, errors.New(must)
	}
	return v, nil
}

// bits returns the size of a whole number as PostgreSQL stores it.
func bits(t field.Type) int {
	switch t {
	case field.TypeInt8:
		return 16
	case field.TypeInt64, field.TypeInt:
		return 64
	}
	return 32
}
