package transfer

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"entgo.io/ent/dialect/sql/schema"
	"entgo.io/ent/schema/field"

	"atrium/ent"
	"atrium/ent/account"
	"atrium/ent/apikey"
	"atrium/ent/billingaccount"
	"atrium/ent/comment"
	"atrium/ent/oauthclient"
	"atrium/ent/request"
	entsecret "atrium/ent/secret"
	"atrium/ent/sequence"
	"atrium/ent/user"
	"atrium/internal/desk/form"
	"atrium/internal/identity"
	keys "atrium/internal/identity/apikey"
	"atrium/internal/identity/password"
	"atrium/internal/op"
	"atrium/internal/op/input"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/egress"
	"atrium/internal/platform/locale"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/strictjson"
)

// mostAttempts limits the attempts that a job of a file may have: no kind of the product has more.
const mostAttempts = 100

// fault returns an error about a column of the line that was read last. must says what the value must be, and never repeats it.
func (i *importer) fault(kind error, t *schema.Table, column, must string) error {
	return fmt.Errorf("%w: line %d: %s of %s %s", kind, i.in.n, column, t.Name, inSentence(must))
}

// inSentence returns a sentence about a value as it stands behind the value's name.
func inSentence(must string) string {
	return strings.ToLower(must[:1]) + strings.TrimSuffix(must[1:], ".")
}

// check returns ErrRow for a row that the product would not have written: by the schema, by its scopes and addresses, and by the rules of
// the operation that makes such a row. Some of those rules are younger than what people have written: requests and comments that break
// them are asked of the operator. Those who run definitions, forms and policies check them whenever they read them.
func (i *importer) check(t *schema.Table, row map[string]any) error {
	for _, c := range t.Columns {
		if must := valid(t, c, row[c.Name]); must != "" {
			return i.fault(ErrRow, t, c.Name, must)
		}
	}
	if column, must := wanting(t, row); must != "" {
		return i.fault(ErrRow, t, column, must)
	}
	column, must := i.asInput(t, row)
	if must == "" && t.Name == request.Table {
		column, must = i.asWritten(row)
	}
	switch {
	case must == "":
		return nil
	case t.Name == request.Table || t.Name == comment.Table:
		i.note("texts", t, column, inSentence(must))
		return nil
	}
	return i.fault(ErrRow, t, column, must)
}

// valid returns what a value must be by the schema; empty if it is.
func valid(t *schema.Table, c *schema.Column, v any) string {
	switch v := v.(type) {
	case nil:
		if !c.Nullable {
			return "must not be null"
		}
	case string:
		switch {
		case c.Type == field.TypeEnum && !slices.Contains(c.Enums, v):
			return "must be one of: " + strings.Join(c.Enums, ", ")
		case !input.Storable(v):
			return "must be text without NUL"
		case c.Size > 0 && utf8.RuneCountInString(v) > int(c.Size):
			return fmt.Sprintf("must have at most %d characters", c.Size)
		case c.Name == "id" && prefixed[t.Name] != "" && !strings.HasPrefix(v, prefixed[t.Name]+"_"):
			return "must begin with " + prefixed[t.Name] + "_"
		}
	case []byte:
		switch typ := jsonTypes[t.Name][c.Name]; {
		case c.Type != field.TypeJSON && c.Size > 0 && len(v) > int(c.Size):
			return fmt.Sprintf("must have at most %d bytes", c.Size)
		case c.Type != field.TypeJSON:
		case !json.Valid(v):
			return "must be JSON"
		case typ == nil || typ == reflect.TypeFor[json.RawMessage]():
		case len(v) > maxSmall:
			return fmt.Sprintf("must have at most %d bytes", maxSmall)
		case json.Unmarshal(v, reflect.New(typ).Interface()) != nil:
			return "has another shape"
		}
	}
	return ""
}

// prefixed has the prefix of the ids of each table, and jsonTypes the types of the columns that hold JSON.
var prefixed, jsonTypes = func() (map[string]string, map[string]map[string]reflect.Type) {
	prefixes, types := map[string]string{}, map[string]map[string]reflect.Type{}
	for _, e := range ent.Entities {
		prefixes[e.Table], types[e.Table] = e.Prefix, map[string]reflect.Type{}
		for n := range e.Row.NumField() {
			f := e.Row.Field(n)
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			types[e.Table][name] = f.Type
		}
	}
	return prefixes, types
}()

// wanting returns the column of a row that the rules of its kind refuse, and what it must be.
func wanting(t *schema.Table, row map[string]any) (column, must string) {
	if text, ok := row["scopes"].([]byte); ok {
		var names []string
		if err := json.Unmarshal(text, &names); err != nil {
			return "scopes", "must be a list of scopes"
		}
		for _, name := range names {
			openID := identity.StandardScope(name) && t.Name != apikey.Table
			if principal.ScopeOf(name) == 0 && !openID {
				return "scopes", "must name known scopes"
			}
		}
	}
	switch t.Name {
	case account.Table:
		if hash, ok := row[account.FieldPasswordHash].(string); ok && hash != "" && password.Bounded(hash) != nil {
			return account.FieldPasswordHash, "must be an argon2id hash of ordinary cost"
		}
	case apikey.Table:
		if _, err := keys.ParsePrefixes(texts(row[apikey.FieldAllowedIps])); err != nil {
			return apikey.FieldAllowedIps, "must be addresses or CIDR prefixes"
		}
	case request.Table:
		if must := answers(row[request.FieldFields]); must != "" {
			return request.FieldFields, must
		}
	case entsecret.Table:
		if _, err := egress.ParseHosts(texts(row[entsecret.FieldAllowedHosts])); err != nil {
			return entsecret.FieldAllowedHosts, err.Error()
		}
	case oauthclient.Table:
		in := identity.CreateClientInput{RedirectURIs: texts(row[oauthclient.FieldRedirectUris]), PostLogoutRedirectURIs: texts(row[oauthclient.FieldPostLogoutRedirectUris])}
		if uri, ok := row[oauthclient.FieldBackchannelLogoutURI].(string); ok {
			in.BackchannelLogoutURI = &uri
		}
		if err := in.Check(); err != nil {
			d := apperr.From(err).Details[0]
			return d.Field, d.Message
		}
	}
	if zone, ok := row[user.FieldTimeZone].(string); ok {
		if _, err := locale.Zone(zone); err != nil {
			return user.FieldTimeZone, "must be a name of the IANA time zone database"
		}
	}
	for _, column := range []string{billingaccount.FieldBalance, "amount_due", "subtotal", "credited", "credits_applied", sequence.FieldLast} {
		if n, ok := row[column].(int64); ok && n < 0 {
			return column, "must not be negative"
		}
	}
	return "", ""
}

// maxAnswers bounds the answers of a request in bytes: those of the longest body, of which each byte is escaped in six.
const maxAnswers = 6 << 20

// answers returns what the answers of a request must be, whatever its form asked: forms change, and what they ask today was not asked of
// those who have answered before.
func answers(v any) string {
	raw, ok := v.([]byte)
	if !ok {
		return ""
	}
	if len(raw) > maxAnswers {
		return fmt.Sprintf("must have at most %d bytes", maxAnswers)
	}
	decoded, err := strictjson.Decode(raw)
	values, object := decoded.(map[string]any)
	if err != nil || !object && decoded != nil {
		return "must be an object that names each answer once"
	}
	for _, d := range form.ValidateWithoutForm(values) {
		return d.Message
	}
	return ""
}

// texts returns a list of texts that valid has accepted.
func texts(v any) (out []string) {
	if raw, ok := v.([]byte); ok {
		_ = json.Unmarshal(raw, &out)
	}
	return out
}

// inputs are the inputs of the operations that make a row, or else of those that change it, by its table, and those of the operations of
// saidLater, by their names.
func inputs() map[string]*input.Input {
	out := map[string]*input.Input{}
	for _, info := range op.All() {
		for _, by := range saidLater {
			if info.Name == by.operation {
				out[info.Name] = info.Input
			}
		}
	}
	for _, action := range []op.Action{op.Update, op.Create} {
		for _, info := range op.All() {
			n := slices.IndexFunc(ent.Entities, func(e *ent.Entity) bool { return e.Name == info.Resource })
			if n >= 0 && info.Action == action && strings.HasSuffix(info.Name, "."+string(action)) && info.Input.HasBody() {
				out[ent.Entities[n].Table] = info.Input
			}
		}
	}
	return out
}

// asInput holds what answers show of a row against the rules of the operation that makes such rows. What is empty was not given. Returns the
// column that they refuse, and what it must be.
func (i *importer) asInput(t *schema.Table, row map[string]any) (column, must string) {
	in := i.inputs[t.Name]
	if in == nil {
		return "", ""
	}
	e := ent.Entities[slices.IndexFunc(ent.Entities, func(e *ent.Entity) bool { return e.Table == t.Name })]
	sent, columns := map[string]any{}, map[string]string{}
	for _, f := range e.Fields {
		_, given := in.Body.Properties[f.Name]
		v := row[f.Column]
		if f.Column == "" || f.Filled != "" || !given || v == nil || reflect.ValueOf(v).IsZero() {
			continue
		}
		if raw, ok := v.([]byte); ok {
			if jsonTypes[t.Name][f.Column] == reflect.TypeFor[json.RawMessage]() {
				continue // a document, which is stored otherwise than it is sent, or checked by those who run it
			}
			if len(raw) > maxSmall {
				return f.Column, fmt.Sprintf("must have at most %d bytes", maxSmall)
			}
			var decoded any
			if json.Unmarshal(raw, &decoded) != nil || empty(decoded) {
				continue
			}
			v = decoded
		}
		switch given := v.(type) {
		case int64:
			v = float64(given)
		case time.Time:
			v = given.Format(time.RFC3339Nano)
		}
		sent[f.Name], columns[f.Name] = v, f.Column
	}
	for _, d := range in.CheckSent(sent) {
		name, _, _ := strings.Cut(d.Field, ".")
		name, _, _ = strings.Cut(name, "[")
		if column := columns[name]; column != "" { // what is missing in the file is not missing in the row
			return column, d.Message
		}
	}
	return "", ""
}

// saidLater are the columns of requests that have texts of other operations than the one that files them, and their fields there.
var saidLater = []struct{ column, operation, field string }{
	{request.FieldDeclineReason, "request.decline", "reason"}, {request.FieldSatisfactionComment, "request.rate", "comment"},
}

// asWritten is asInput for the texts of a request that came later.
func (i *importer) asWritten(row map[string]any) (column, must string) {
	for _, by := range saidLater {
		text, _ := row[by.column].(string)
		if text == "" {
			continue
		}
		for _, d := range i.inputs[by.operation].CheckSent(map[string]any{by.field: text}) {
			if d.Field == by.field {
				return by.column, d.Message
			}
		}
	}
	return "", ""
}

// empty reports whether a JSON value holds nothing.
func empty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case string:
		return v == ""
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	}
	return false
}

// inside returns ErrForeign if a row names, in a column that no foreign key guards, a row of another company of this installation.
func (i *importer) inside(ctx context.Context, t *schema.Table, row map[string]any) error {
	for _, c := range t.Columns {
		named, ok := row[c.Name].(string)
		if !ok || c.Size != idSize || c.Name == "id" || c.Name == "company_id" || c.Name == "account_id" || i.near[named] {
			continue
		}
		prefix, _, _ := strings.Cut(named, "_")
		n := slices.IndexFunc(tables, func(t *schema.Table) bool {
			_, owned := t.Column("company_id")
			return owned && prefixed[t.Name] == prefix
		})
		if n < 0 {
			continue
		}
		owner, err := i.first(ctx, "SELECT company_id FROM "+tables[n].Name+" WHERE id = ?", named)
		if err != nil {
			return err
		}
		if owner != "" && !i.ours(owner) {
			return i.fault(ErrForeign, t, c.Name, "must not be of another company")
		}
		i.noteNear(named)
	}
	return nil
}

// idSize is the size of columns that hold ids.
const idSize = 40
