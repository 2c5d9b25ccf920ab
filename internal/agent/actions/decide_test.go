package actions

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/internal/platform/strictjson"
)

func TestEditsKeepDigits(t *testing.T) {
	t.Parallel()
	got, err := edited(json.RawMessage(`{"fields":{"asset":9007199254740993},"title":"a","teamId":"t"}`), strictjson.Object{"title": "b", "teamId": nil})
	require.NoError(t, err)
	require.Equal(t, `{"fields":{"asset":9007199254740993},"title":"b"}`, string(got))
}
