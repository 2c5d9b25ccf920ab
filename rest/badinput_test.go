package rest_test

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/internal/platform/principal"
	"atrium/internal/test/apitest"
	"atrium/rest"
)

// nasty are texts that are special to some interpreter.
var nasty = []string{
	`'`, `''; DROP TABLE services; --`, `" OR ""="`, `1 OR 1=1`, `%`, `_`, `\`, `\x00`, `$1`, `?`, `:name`, `${principal.id}`, `{{7*7}}`, `<script>`,
	`input.x == 1; true`, `] ; data.atrium`, `*`, `../../etc/passwd`, "a\tb", "\u2028", "ＳＥＬＥＣＴ", "\U0001F600", strings.Repeat("9", 60), "-1", "null", "[]",
}

// TestBadCredentials calls every route with every invalid credential: 401, and nothing is written.
func TestBadCredentials(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		f := filed(t, s, s.A.OwnerKey)
		at := singles(t, s, s.A.OwnerKey).made()
		owner, past := s.A.Tenant.Owner, s.World.Clock.Now().Add(-time.Second)
		expired := s.Key(t, s.A.Tenant, owner, apitest.KeyOptions{ExpiresAt: &past})
		revoked := s.Key(t, s.A.Tenant, owner, apitest.KeyOptions{RevokedAt: &past})
		elsewhere := s.Key(t, s.A.Tenant, owner, apitest.KeyOptions{IPs: []string{"203.0.113.0/24"}})
		lapsed := s.Bearer(t, s.A.Tenant, owner, principal.ScopeNames, -time.Second)
		deactivated := s.World.AddUser(t, s.A.Tenant, "gone@a.test", principal.Admin)
		token := s.Bearer(t, s.A.Tenant, deactivated, principal.ScopeNames, time.Hour)
		deactivate(t, s, deactivated)
		key, bearer := s.A.OwnerKey.Value, s.A.Owner.Value
		flipped := key[:len(key)-1] + string('0'+(key[len(key)-1]+1)%10)
		dots := strings.Split(bearer, ".")
		bad := map[string]http.Header{
			"nothing":                  {},
			"empty key":                {"X-Api-Key": {""}},
			"unknown key":              {"X-Api-Key": {flipped}},
			"cut key":                  {"X-Api-Key": {key[:20]}},
			"longer key":               {"X-Api-Key": {key + "x"}},
			"live key said to be test": {"X-Api-Key": {strings.Replace(key, "key_live_", "key_test_", 1)}},
			"test key said to be live": {"X-Api-Key": {strings.Replace(s.A.TestKey.Value, "key_test_", "key_live_", 1)}},
			"expired key":              expired.Header,
			"revoked key":              revoked.Header,
			"key from elsewhere":       elsewhere.Header,
			"metacharacters":           {"X-Api-Key": {`' OR '1'='1`}},
			"key as bearer":            {"Authorization": {"Bearer " + key}},
			"token as key":             {"X-Api-Key": {bearer}},
			"basic":                    {"Authorization": {"Basic " + key}},
			"bare token":               {"Authorization": {bearer}},
			"two keys":                 {"X-Api-Key": {key, key}},
			"key and token":            {"X-Api-Key": {key}, "Authorization": {"Bearer " + bearer}},
			"two tokens":               {"Authorization": {"Bearer " + bearer, "Bearer " + bearer}},
			"expired token":            lapsed.Header,
			"token of somebody gone":   token.Header,
			"unsigned token":           {"Authorization": {"Bearer " + dots[0] + "." + dots[1] + "."}},
			"forged token":             {"Authorization": {"Bearer " + dots[0] + "." + dots[1] + "." + strings.Repeat("A", len(dots[2]))}},
			"none algorithm":           {"Authorization": {"Bearer eyJhbGciOiJub25lIn0." + dots[1] + "."}},
			"garbage token":            {"Authorization": {"Bearer \xff\xfe"}},
			"session cookie":           {"Cookie": {"session=" + bearer + "; __Host-session=" + bearer}},
		}
		// The answer tells how a credential was sent and what is visible in it, but not whose it is or was.
		const (
			none      = "Send an API key in X-Api-Key, or an access token in Authorization: Bearer."
			several   = "Send one credential, not several."
			misfit    = "Send API keys in X-Api-Key, not as bearer tokens."
			malformed = "This is no API key: it was cut short or mistyped."
		)
		told := map[string]string{
			"nothing": none, "session cookie": none, "two keys": several, "key and token": several, "two tokens": several, "key as bearer": misfit,
			"empty key": malformed, "unknown key": malformed, "cut key": malformed, "longer key": malformed, "metacharacters": malformed, "token as key": malformed,
			"live key said to be test": malformed, "test key said to be live": malformed,
		}
		before := s.Counts(t)
		for n, row := range rest.Table() {
			for name, header := range bad {
				a := s.Do(t, apitest.Scenario{Name: name, As: apitest.Caller{Name: name, Header: header}, Method: row.Method, Path: at.of(row), Body: goodBody(row, f, n), WantStatus: 401, WantCode: "unauthorized"})
				require.Equal(t, cmp.Or(told[name], "The credential is not valid."), a.Text("message"), name)
				require.NotContains(t, string(a.Body), "reason", name)
				require.NotContains(t, string(a.Body), "details", name)
			}
		}
		require.Equal(t, before, s.Counts(t))
	})
}

// TestBadBodies sends every invalid body to every route that takes one and to every POST, and nothing is written.
func TestBadBodies(t *testing.T) {
	t.Parallel()
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	each(t, func(t *testing.T, s *apitest.Server) {
		as := s.A.OwnerKey
		at := singles(t, s, as).made()
		before := s.Counts(t)
		jsonType := func(v string) http.Header { return http.Header{"Content-Type": {v}} }
		malformed := map[string]string{
			"empty": "", "blank": " \n", "cut": `{"name":"x"`, "two values": `{"name":"x"}{}`, "trailing comma": `{"name":"x",}`, "comment": `{/*x*/"name":"x"}`, "single quotes": `{'name':'x'}`,
			"top-level list": `[{"name":"x"}]`, "top-level text": `"name"`, "null": `null`, "number": `1`, "NaN": `{"name":NaN}`,
			"key twice": `{"name":"x","name":"y"}`, "key twice below": `{"tags":{"a":"b","a":"c"}}`, "key twice by escape": "{\"name\":\"x\",\"n\\u0061me\":\"y\"}",
			"byte-order mark": "\xef\xbb\xbf{\"name\":\"x\"}", "UTF-16": "{\x00}\x00", "invalid UTF-8": "{\"name\":\"\xff\"}", "invalid UTF-8 in a key": "{\"\xc3\":1}",
			"beyond a double": `{"x":1e999}`, "beyond a double, negative": `{"x":-1e999}`, "deeper than 100": `{"x":` + deep(100) + `}`, "very deep": `{"x":` + deep(200_000) + `}`,
			"leading zero": `{"x":01}`, "raw control character": "{\"name\":\"a\nb\"}", "lone escape": `{"name":"\u12"}`,
		}
		for _, row := range rest.Table() {
			path := at.of(row)
			if !row.Op.Input.HasBody() && row.Method != http.MethodPost {
				continue // it takes no body
			}
			for name, text := range malformed {
				if text == "" && !row.Op.Input.HasBody() {
					continue // publishing takes no fields, so it needs no body
				}
				s.Do(t, apitest.Scenario{Name: name, As: as, Method: row.Method, Path: path, Body: text, WantStatus: 400, WantCode: "validation_error", WantFields: []string{"body"}})
			}
			for _, media := range []string{"", "text/plain", "application/x-www-form-urlencoded", "application/merge-patch+json", "application/json; charset=utf-16", "application/json;;", "multipart/form-data", "application/jsonx"} {
				s.Do(t, apitest.Scenario{As: as, Method: row.Method, Path: path, Header: jsonType(media), Body: `{}`, WantStatus: 415, WantCode: "unsupported_media_type"})
			}
			s.Do(t, apitest.Scenario{As: as, Method: row.Method, Path: path, Header: http.Header{"Content-Encoding": {"gzip"}}, Body: `{}`, WantStatus: 415})
			s.Do(t, apitest.Scenario{As: as, Method: row.Method, Path: path, Body: strings.Repeat(" ", 1<<20-1) + "{}", WantStatus: 413, WantCode: "payload_too_large"})
			s.Do(t, apitest.Scenario{As: as, Method: row.Method, Path: path, Body: body{"unknown_field": 1, "": 2, "constructor": nil}, WantStatus: 400, WantContains: []string{`"unknown_field"`, `"constructor"`}})
			if !row.Op.Input.HasBody() {
				continue
			}
			// Every field with every wrong type; and with the NUL character, which no database accepts.
			for name := range row.Op.Input.Body.Properties {
				for _, v := range []string{`1e308`, `true`, `[[]]`, `{"a":{"b":[]}}`, `"` + strings.Repeat("x", 70_000) + `"`, `"a\u0000b"`, `{"a\u0000":"b"}`} {
					if (name == "fields" || name == "variables" && (row.Op.Name == "task.complete" || row.Op.Name == "agentinbox.complete")) && strings.Contains(v, `"b":[]`) {
						continue // without a form, any answers are valid
					}
					if v == "true" && row.Op.Input.Body.Properties[name].Type == "boolean" {
						continue // the field accepts this
					}
					a := s.Do(t, apitest.Scenario{Name: name, As: as, Method: row.Method, Path: path, Body: fmt.Sprintf(`{%q:%s}`, name, v), WantStatus: 400, WantCode: "validation_error"})
					if row.Method == http.MethodPatch {
						for _, f := range a.Fields() {
							require.True(t, f == name || strings.HasPrefix(f, name+".") || strings.HasPrefix(f, name+"["), "%s: %s: %s", name, v, a.Body)
						}
					}
				}
			}
		}
		require.Equal(t, before, s.Counts(t))
	})
}

// TestBadQueriesAndIDs sends metacharacters in every filter and every id, and unknown parameters.
func TestBadQueriesAndIDs(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		as := s.A.OwnerKey
		f := filed(t, s, as)
		at := singles(t, s, as).made()
		before := s.Counts(t)
		for n, row := range rest.Table() {
			path, b := at.of(row)+"?", goodBody(row, f, n)
			if strings.Contains(at.of(row), "?") {
				path = at.of(row) + "&"
			}
			for query, field := range map[string]string{"unknown=1": "unknown", "id=1": "id", "x=1&x=2": "x", "select%2A=1": "select*", "company_id=" + s.B.Tenant.Company.ID: "company_id", "%00=1": "\x00"} {
				s.Do(t, apitest.Scenario{As: as, Method: row.Method, Path: path + query, Body: b, WantStatus: 400, WantCode: "validation_error", WantFields: []string{field}})
			}
			for _, query := range []string{"a=%zz", "a=1;b=2", "page=1;pageSize=2"} {
				s.Do(t, apitest.Scenario{As: as, Method: row.Method, Path: path + query, Body: b, WantStatus: 400, WantFields: []string{"query"}})
			}
			if strings.Contains(row.Path, "{id}") {
				ids := append([]string{"\x00", "\xff\xfe", "svc_" + strings.Repeat("x", 3000), " ", "svc_ ", strings.ToUpper(at.of(row)[strings.LastIndexByte(at.of(row), '/')+1:])}, nasty...)
				for _, id := range ids {
					s.Do(t, apitest.Scenario{As: as, Method: row.Method, Path: "/v1" + strings.Replace(row.Path, "{id}", pathEscape(id), 1), Body: b, WantStatus: 404, WantCode: "not_found"})
				}
			}
			if row.Method != http.MethodGet {
				continue
			}
			for _, p := range row.Op.Input.Params {
				if p.In != "query" {
					continue
				}
				name := strings.Replace(p.Name, "*", "k", 1)
				for _, bad := range []string{"%00", "%ff", "a%00b"} {
					s.Do(t, apitest.Scenario{As: as, Path: path + name + "=" + bad, WantStatus: 400, WantFields: []string{name}})
				}
				for _, text := range nasty {
					a := s.Send(t, apitest.Scenario{As: as, Path: path + name + "=" + url.QueryEscape(text)})
					require.Contains(t, []int{200, 400}, a.Status, "%s=%s: %s", name, text, a.Body)
					if a.Status == 400 {
						require.Equal(t, []string{name}, a.Fields())
						continue
					}
					if p.Name != "q" && p.Name != "language" && a.Has("pagination") { // what has no texts in a language has them in English
						require.Empty(t, a.Column("id"), "%s=%s", name, text)
					}
				}
			}
		}
		require.Equal(t, before, s.Counts(t))
	})
}

// pathEscape escapes every byte that is no letter or digit.
func pathEscape(id string) string {
	var b strings.Builder
	for i := range len(id) {
		c := id[i]
		if c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}
