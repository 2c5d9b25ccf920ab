package request

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A member may cancel own requests, and change nothing else with it: every other field of the PATCH requires
// request.update. The test takes the fields from the declaration, so that it covers new ones.
func TestEveryFieldTakesTheRight(t *testing.T) {
	t.Parallel()
	n := 0
	for _, f := range reflect.VisibleFields(reflect.TypeFor[UpdateInput]()) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous || name == "-" || name == "status" {
			continue
		}
		n++
		for _, body := range []string{`{"status": "CANCELLED", "` + name + `": null}`, `{"` + name + `": null}`} {
			var in UpdateInput
			require.NoError(t, json.Unmarshal([]byte(body), &in), body)
			require.Contains(t, in.verbs(), "request.update", body)
		}
	}
	require.GreaterOrEqual(t, n, 7)
	var in UpdateInput
	require.NoError(t, json.Unmarshal([]byte(`{"status": "CANCELLED"}`), &in))
	require.Equal(t, []string{"request.cancel"}, in.verbs())
}
