package rest

import (
	"bytes"
	"encoding/json"
	"html/template"
	"regexp"
	"slices"
	"strings"
)

// sampleTexts are values that make the reference's examples read like someone's own, by the field's name or, where a
// resource has its own, by "Resource.field". A field that is not here gets a value made from its schema.
var sampleTexts = map[string]string{
	"name":                               `"Workplace IT"`,
	"slug":                               `"workplace-it"`,
	"description":                        `"Devices, accounts and access"`,
	"title":                              `"Laptop for a new colleague"`,
	"email":                              `"ada@example.com"`,
	"value":                              `"9f2c1e"`,
	"tags":                               `{"site": "berlin"}`,
	"attributes":                         `{"department": "finance"}`,
	"fields":                             `{"model": "14 inch", "memory": 32}`,
	"definition":                         `{"phases": [{"id": "start", "type": "START"}, {"id": "end", "type": "END"}], "transitions": [{"from": "start", "name": "next", "to": "end"}]}`,
	"variables":                          `{}`,
	"changes":                            `{"status": {"from": "PENDING", "to": "IN_PROGRESS"}}`,
	"visibleWhen":                        `{"model": ["14 inch", "16 inch"]}`,
	"key":                                `"model"`,
	"label":                              `"Which model?"`,
	"options":                            `["14 inch", "16 inch"]`,
	"help":                               `null`,
	"pattern":                            `null`,
	"min":                                `null`,
	"max":                                `null`,
	"responseMinutes":                    `60`,
	"resolutionMinutes":                  `480`,
	"warnAtPercent":                      `80`,
	"balance":                            `4200`,
	"amount":                             `4200`,
	"ip":                                 `"192.0.2.7"`,
	"userAgent":                          `"curl/8.5.0"`,
	"action":                             `"request.updated"`,
	"reason":                             `"scope"`,
	"outcome":                            `"next"`,
	"requestId":                          `"req_01k9ye4ryzf7stj6dqnm8x2v3b"`,
	"createdBy":                          `"usr_01k9ye4ryzf7stj6dqnm8x2v3b"`,
	"Offering.form.fields[].type":        `"select"`,
	"Offering.form.fields[].visibleWhen": `null`,
	"Service.status":                     `"active"`,
	"Workflow.status":                    `"active"`,
	"User.name":                          `"Ada Osei"`,
	"Team.name":                          `"Service desk"`,
	"Team.slug":                          `"service-desk"`,
	"Team.description":                   `"First line for everything with a plug"`,
	"Organization.name":                  `"Berlin office"`,
	"Organization.slug":                  `"berlin-office"`,
	"Offering.name":                      `"New laptop"`,
	"Offering.slug":                      `"new-laptop"`,
	"Offering.description":               `"A laptop, set up and delivered"`,
	"Request.description":                `"She starts on Monday."`,
	"Workflow.name":                      `"Laptop order"`,
	"Workflow.slug":                      `"laptop-order"`,
	"Workflow.description":               `"Approval, order, delivery"`,
	"Secret.name":                        `"ERP_TOKEN"`,
	"Secret.description":                 `"For the ordering system"`,
	"AuditEntry.requestId":               `"rid_01k9ye4ryzf7stj6dqnm8x2v3b"`,
	"AuditEntry.actor":                   `{"type": "user", "id": "usr_01k9ye4ryzf7stj6dqnm8x2v3b", "name": "Ada Osei"}`,
	"AuditEntry.resource":                `{"type": "Request", "id": "req_01k9ye4ryzf7stj6dqnm8x2v3b"}`,
	"Credits.entries[].description":      `"Service disruption on 1 March"`,
}

// idPrefixes are the prefixes of ids, by the noun that they are the id of.
var idPrefixes = map[string]string{
	"service": "svc", "offering": "off", "request": "req", "workflow": "wf", "execution": "exe", "task": "task", "user": "usr",
	"assignee": "usr", "team": "team", "ownerTeam": "team", "member": "usr", "organization": "org", "parent": "org", "secret": "sec",
	"calendar": "cal", "invoice": "inv", "agent": "agt", "inbound": "whi", "auditEntry": "aud",
}

// idOf returns a sample id of a noun: svc_… of "service".
func idOf(noun string) string {
	prefix := idPrefixes[noun]
	if prefix == "" {
		prefix = "id"
	}
	return prefix + "_01k9ye4ryzf7stj6dqnm8x2v3b"
}

var pathVariable = regexp.MustCompile(`([^/]+)/\{\w+\}`)

// samplePath puts sample ids into a path's variables.
func samplePath(path string) string {
	return pathVariable.ReplaceAllStringFunc(path, func(s string) string {
		before, _, _ := strings.Cut(s, "/")
		return before + "/" + idOf(strings.TrimSuffix(before, "s"))
	})
}

// resourceAt returns the resource that a path is about: "Offering" of /v1/services/{id}/offerings.
func resourceAt(path string) string {
	path = strings.TrimSuffix(path, "/{id}")
	return capital(strings.TrimSuffix(path[strings.LastIndexByte(path, '/')+1:], "s"))
}

// sample makes a value that fits a schema. name is where it stands in the resource ("sla.calendarId"). whole asks for
// every field; else only those are there that a call needs, or the first when it needs none.
func (p *reference) sample(resource, name string, s object, whole bool) any {
	last := name[strings.LastIndexByte(name, '.')+1:]
	if text, ok := sampleTexts[resource+"."+name]; ok {
		return json.RawMessage(text)
	}
	if one := choice(s); one != nil {
		return p.sample(resource, name, one, whole)
	}
	s = p.follow(s)
	if enum, ok := s.get("enum").([]any); ok {
		return enum[0]
	}
	kind := s.text("type")
	if list, ok := s.get("type").([]any); ok {
		kind, _ = list[0].(string)
	}
	if text, ok := sampleTexts[last]; ok && (kind != "array" || text[0] == '[') {
		return json.RawMessage(text)
	}
	switch kind {
	case "object":
		return p.sampleObject(resource, name, s, whole)
	case "array":
		if last == "fields" && !whole {
			return []any{}
		}
		if one, ok := strings.CutSuffix(name, "Ids"); ok {
			name = one + "Id"
		} else {
			name += "[]"
		}
		return []any{p.sample(resource, name, s.object("items"), whole)}
	case "integer", "number":
		if low := s.get("minimum"); low != nil {
			return low
		}
		return 1
	case "boolean":
		return true
	}
	if s.text("format") == "date-time" {
		return "2026-03-02T09:30:00.000Z"
	}
	if noun, ok := strings.CutSuffix(last, "Id"); ok {
		return idOf(noun)
	}
	if last == "id" {
		return idOf(strings.ToLower(resource[:min(1, len(resource))]) + resource[min(1, len(resource)):])
	}
	return "…"
}

func (p *reference) sampleObject(resource, name string, s object, whole bool) any {
	required, _ := s.get("required").([]any)
	out := object{}
	for i, m := range s.object("properties") {
		if !whole && !slices.Contains(required, any(m.key)) && m.key != "priority" && m.key != "fields" && (i > 0 || len(required) > 0) {
			continue
		}
		inner, _ := m.value.(object)
		out = append(out, member{m.key, p.sample(resource, strings.TrimPrefix(name+"."+m.key, "."), inner, whole)})
	}
	return out
}

// indented writes a sample as people read JSON.
func indented(v any) string {
	raw, err := encode(v, 0)
	if err != nil {
		return ""
	}
	var out bytes.Buffer
	if json.Indent(&out, raw, "", "  ") != nil {
		return ""
	}
	return out.String()
}

var codeSpan = regexp.MustCompile("`([^`]+)`")

// prose writes a text as HTML, with what stands between backquotes as code.
func prose(text string) template.HTML {
	return template.HTML(codeSpan.ReplaceAllString(template.HTMLEscapeString(text), "<code>$1</code>")) // escaped above
}

// fieldName writes "sla.calendarId" as HTML that may break after its dots, its last part apart from what it is in.
func fieldName(name string) template.HTML {
	if i := strings.LastIndexByte(name, '.'); i >= 0 && !strings.Contains(name[i:], "<") {
		within := strings.ReplaceAll(template.HTMLEscapeString(name[:i+1]), ".", ".<wbr>")
		return template.HTML(`<span class="within">` + within + "</span>" + template.HTMLEscapeString(name[i+1:])) // escaped
	}
	return template.HTML(template.HTMLEscapeString(name)) // escaped
}
