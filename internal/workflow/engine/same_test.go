package engine_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"atrium/internal/desk/sla"
	"atrium/internal/workflow/definition"
	"atrium/internal/workflow/engine"
)

// withoutBlocks is the hash of what the engine made of 400 random definitions before there were blocks. Executions that began then go
// on, so that what it makes of definitions without blocks stays the same in every byte. A new version of rapid may draw others: then
// take the hash from the commit before it.
const withoutBlocks = "22dd9e688d10952834482f92680fb7132a852925669a5e8d767583d7ebdce672"

func TestWithoutBlocksEveryByteIsTheSame(t *testing.T) {
	t.Parallel()
	all := sha256.New()
	runs := rapid.Custom(func(t *rapid.T) string { return transcript(t) })
	for seed := range 400 {
		_, err := io.WriteString(all, runs.Example(seed))
		require.NoError(t, err)
	}
	require.Equal(t, withoutBlocks, hex.EncodeToString(all.Sum(nil)))
}

// transcript runs a random definition on random inputs and writes down every result.
func transcript(t *rapid.T) string {
	versions := [2]*definition.Definition{drawDefinition(t), drawDefinition(t)}
	w := &world{t: t, d: versions[0], env: engine.Env{
		Now: noon, ExecutionID: "exe_1",
		Request:  map[string]any{"title": "T", "status": "PENDING", "fields": map[string]any{"n": rapid.Float64Range(0, 6).Draw(t, "n")}},
		Calendar: func(string) (*sla.Calendar, error) { return sla.New("UTC", nil, nil) },
	}}
	out := ""
	step := func(in engine.Input) {
		d := w.d
		if _, ok := in.(engine.Move); ok {
			d = versions[1]
		}
		res, err := engine.Step(t.Context(), d, w.state, in, w.env)
		out += fmt.Sprintf("%T %v %s %s %v", in, err, asText(t, res.State), asText(t, res.History), res.More)
		if err != nil {
			return
		}
		w.d, w.state = d, stored(t, res.State)
		for _, e := range res.Effects {
			out += written(t, e)
			w.carryOut(e)
		}
	}
	step(engine.Begin{})
	for range 30 {
		if w.state.Status.Final() || w.state.Wait == nil {
			break
		}
		step(drawInput(t, w))
	}
	return out
}

// written returns an effect as text, with the id of its phase in place of the phase.
func written(t *rapid.T, e engine.Effect) string {
	v, fields := reflect.ValueOf(e), map[string]any{}
	for i := range v.NumField() {
		one := v.Field(i).Interface()
		if p, ok := one.(*definition.Phase); ok {
			one = p.ID
		}
		fields[v.Type().Field(i).Name] = one
	}
	raw, err := json.Marshal(fields)
	require.NoError(t, err)
	return fmt.Sprintf("%T%s\n", e, raw)
}
