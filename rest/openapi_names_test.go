package rest

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// goName returns what tells two names apart once a generator has made Go names of them: letters without case, and digits.
func goName(name string) string {
	return regexp.MustCompile(`[^a-z0-9]`).ReplaceAllString(strings.ToLower(name), "")
}

// Generators (oapi-codegen, ogen) make Go types of all components in one namespace, of inline objects and enums under the names of
// what holds them and of the property, and of each operation's parameters, body and answers; and fields of properties.
func TestNamesStayApartInGo(t *testing.T) {
	t.Parallel()
	_, doc := readDocument(t)
	seen := map[string]string{}
	take := func(name, from string) {
		if other, taken := seen[goName(name)]; taken {
			t.Errorf("%s and %s are one name in Go", other, from)
		}
		seen[goName(name)] = from
	}
	var within func(name string, s object)
	within = func(name string, s object) {
		fields := map[string]string{}
		for property, v := range s.object("properties") {
			other, taken := fields[goName(property)]
			require.False(t, taken, "%s: %s and %s are one field in Go", name, property, other)
			fields[goName(property)] = property
			inner := asObject(v)
			if of := inner.object("items"); of != nil {
				inner = of
			}
			if inner.object("properties") != nil || inner["additionalProperties"] != nil || inner["enum"] != nil {
				take(name+" "+property, name+"."+property)
			}
			within(name+" "+property, inner)
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(doc.object("components"))) {
		for name := range doc.object("components").object(kind) {
			take(name, kind+"/"+name)
		}
	}
	for name, s := range doc.object("components").object("schemas") {
		within(name, asObject(s))
	}
	for _, item := range doc.object("paths") {
		for _, v := range asObject(item) {
			id := asObject(v).text("operationId")
			for _, suffix := range []string{"Params", "JSONBody", "JSONRequestBody", "Req", "Response", "Res", "OK", "Created", "Accepted"} {
				take(id+suffix, id+"'s "+suffix)
			}
		}
	}
	require.Greater(t, len(seen), 500)
}

// Answers may gain fields at every depth; inputs refuse what they do not know.
func TestAnswersAreOpen(t *testing.T) {
	t.Parallel()
	_, doc := readDocument(t)
	open := func(pointer string, v any) {
		walk(pointer, v, func(pointer string, o object) {
			require.NotEqual(t, false, o["additionalProperties"], pointer)
		})
	}
	schemas := doc.object("components").object("schemas")
	for name, s := range schemas {
		if !strings.HasSuffix(name, "Input") {
			open(name, s)
		}
	}
	for path, item := range doc.object("paths") {
		for method, o := range asObject(item) {
			open(method+" "+path, map[string]any(asObject(o).object("responses")))
		}
	}
	changes := lookup(doc, "#/components/schemas/AuditEntry/properties/changes")
	require.Equal(t, []any{"from", "to"}, changes.object("additionalProperties").get("required"))
}
