package rest

import (
	"embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"atrium/internal/billing"
	"atrium/internal/op/events"
	"atrium/internal/platform/principal"
	"atrium/internal/workflow/definition"
	"atrium/policies"
)

//go:embed guides/*.json guides/verify.*
var guideFiles embed.FS

// guides is the data that the guide pages are rendered from, besides their text. It comes from the route table, the data of the
// access policies and the files in guides/.
type guides struct {
	BaseURL string
	AuthURL string // empty when tokens come from another issuer
	Scopes  []guideScope
	Roles   []guideRole
	Admin   []string // what owners may do and admins may not
	Phases  []guidePhase
	Verify  []guideExample

	Definition    string   // a complete workflow definition
	TextFunctions []string // of expressions
	Events        []guideEvent

	Plans    []billing.Plan
	Examples []billing.Example // of billing computations
}

// guideScope is a scope with the summaries of the operations that it allows.
type guideScope struct {
	Name  string
	Opens []string
}

// guideEvent is an event that webhooks carry, with the body of a delivery.
type guideEvent struct{ Name, Meaning, Sample string }

// guideRole says what members and agents may do with rows of one kind (Noun).
type guideRole struct{ Noun, Member, Agent string }

// guidePhase describes a phase type. Example is a fragment of a definition that continues at the phase "end".
type guidePhase struct {
	Type, Does, Ways string
	Keys             [][3]string
	Example          json.RawMessage
}

// Anchor returns the id of the type's section.
func (p guidePhase) Anchor() string {
	return "phase-" + strings.ReplaceAll(strings.ToLower(p.Type), "_", "-")
}

// Sample returns the example as indented JSON.
func (p guidePhase) Sample() string { return indented(p.Example) }

// guideExample is a code example in one language.
type guideExample struct{ Language, Code string }

// verifiers are the examples of how a webhook's signature is verified.
var verifiers = []struct{ language, file string }{
	{"Python", "verify.py"}, {"Node", "verify.mjs"}, {"Go", "verify.go.txt"}, {"Java", "verify.java"},
}

// newGuides reads the data of the guide pages.
func newGuides(baseURL, authURL string) (*guides, error) {
	g := &guides{BaseURL: baseURL, AuthURL: authURL, Plans: billing.Plans, TextFunctions: definition.TextFunctions}
	for _, name := range principal.ScopeNames {
		g.Scopes = append(g.Scopes, guideScope{name, operationsOf(name)})
	}
	for _, k := range events.All {
		body, err := k.Sample()
		if err != nil {
			return nil, err
		}
		g.Events = append(g.Events, guideEvent{k.Name, k.Meaning, indented(json.RawMessage(body))})
	}
	var err error
	if g.Examples, err = billing.Examples(); err != nil {
		return nil, err
	}
	raw, err := guideFiles.ReadFile("guides/phases.json")
	if err == nil {
		err = json.Unmarshal(raw, &g.Phases)
	}
	if err != nil {
		return nil, fmt.Errorf("read the phase types: %w", err)
	}
	if raw, err = guideFiles.ReadFile("guides/definition.json"); err != nil {
		return nil, fmt.Errorf("read the definition: %w", err)
	}
	g.Definition = strings.TrimSpace(string(raw))
	for _, v := range verifiers {
		code, err := guideFiles.ReadFile("guides/" + v.file)
		if err != nil {
			return nil, fmt.Errorf("read an example: %w", err)
		}
		g.Verify = append(g.Verify, guideExample{v.language, strings.TrimSpace(string(code))})
	}
	return g, g.readRoles()
}

// readRoles reads what roles may do from the policies' data.
func (g *guides) readRoles() error {
	var data struct {
		Roles map[string]struct {
			Verbs  map[string]string
			Except []string
		}
	}
	raw, err := policies.Files.ReadFile("data.json")
	if err == nil {
		err = json.Unmarshal(raw, &data)
	}
	if err != nil {
		return fmt.Errorf("read the roles: %w", err)
	}
	member, agent := data.Roles["member"].Verbs, maps.Clone(data.Roles["member"].Verbs)
	maps.Copy(agent, data.Roles["agent"].Verbs)
	var nouns []string
	for verb := range agent {
		noun, _, _ := strings.Cut(verb, ".")
		nouns = append(nouns, noun)
	}
	slices.Sort(nouns)
	for _, noun := range slices.Compact(nouns) {
		g.Roles = append(g.Roles, guideRole{noun, rightsOn(noun, member), rightsOn(noun, agent)})
	}
	for _, verb := range data.Roles["admin"].Except {
		if !slices.Contains(data.Roles["owner"].Except, verb) {
			g.Admin = append(g.Admin, verb)
		}
	}
	return nil
}

// rightsOn lists the verbs on a kind of row: "create; read, cancel (own)".
func rightsOn(noun string, verbs map[string]string) string {
	by := map[string][]string{}
	for _, verb := range slices.Sorted(maps.Keys(verbs)) {
		if of, action, _ := strings.Cut(verb, "."); of == noun {
			by[verbs[verb]] = append(by[verbs[verb]], strings.ReplaceAll(action, "_", " "))
		}
	}
	var out []string
	for _, reach := range []string{"all", "own", "assigned"} {
		if len(by[reach]) == 0 {
			continue
		}
		text := strings.Join(by[reach], ", ")
		if reach != "all" {
			text += " (" + reach + ")"
		}
		out = append(out, text)
	}
	return strings.Join(out, "; ")
}
