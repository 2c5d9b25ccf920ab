package strictjson_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/internal/platform/strictjson"
)

func TestObjectKeepsDigits(t *testing.T) {
	t.Parallel()
	const text = `{"list":[{"n":0.30}],"long":12345678901234567890123,"small":1e-3,"whole":123456789012345678}`
	var in struct {
		O strictjson.Object `json:"o"`
	}
	require.NoError(t, json.Unmarshal([]byte(`{"o":`+text+`}`), &in))
	out, err := json.Marshal(in.O)
	require.NoError(t, err)
	require.Equal(t, text, string(out))
	require.NoError(t, json.Unmarshal([]byte(`{"o":null}`), &in))
	require.Nil(t, in.O)
	require.Error(t, json.Unmarshal([]byte(`{"o":[1]}`), &in))
}
