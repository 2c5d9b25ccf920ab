package preset

import (
	"embed"
	"encoding/json"
	"fmt"
	"slices"

	"atrium/internal/platform/locale"
)

// Preset is what a webhook of one sender is made with.
type Preset struct {
	Key         string
	Name        locale.Text
	Description locale.Text // one line
	Style       string
	Signature   *Signature
	Headers     []string          // to keep besides the usual ones; nil for none
	When        string            // empty for every call
	Mapping     map[string]string // the expressions of a field mapping but for fields
	Steps       []locale.Text     // what to do at the sender; {url} stands for the webhook's address
	SecretThere bool              // the sender draws the secret, which has to be given here
	Sample      Sample
}

// Sample is a call of the sender. Of a form, Body is the JSON that is made of it.
type Sample struct {
	Headers map[string]string
	Body    json.RawMessage
}

//go:embed samples
var samples embed.FS

// All lists the presets in the order in which people choose.
var All = func() []*Preset {
	all := slices.Concat(code, alarms, others)
	for _, p := range all {
		body, err := samples.ReadFile("samples/" + p.Key + ".json")
		if err != nil {
			panic(fmt.Sprintf("the sample of the preset %s: %v", p.Key, err)) // a test would not have built
		}
		p.Sample.Body = body
	}
	return all
}()

// Of returns the preset of a key; nil for none.
func Of(key string) *Preset {
	i := slices.IndexFunc(All, func(p *Preset) bool { return p.Key == key })
	if i < 0 {
		return nil
	}
	return All[i]
}

// Keys lists the keys of all presets.
func Keys() []string {
	keys := make([]string, len(All))
	for i, p := range All {
		keys[i] = p.Key
	}
	return keys
}
