package id_test

import (
	"sort"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/internal/platform/id"
)

func TestNewIsPrefixedValidAndTimeOrdered(t *testing.T) {
	t.Parallel()
	ids := make([]string, 1000)
	for i := range ids {
		ids[i] = id.New("req")
		require.True(t, id.Valid("req", ids[i]), ids[i])
		require.Len(t, ids[i], len("req_")+26)
	}
	require.True(t, sort.StringsAreSorted(ids), "ids made later sort later")
}

func TestValidRefusesOtherShapes(t *testing.T) {
	t.Parallel()
	good := id.New("svc")
	for _, bad := range []string{"", "svc_", good[:len(good)-1], good + "0", "req" + good[3:], good[:10] + "U" + good[11:], good[:10] + "'" + good[11:]} {
		require.False(t, id.Valid("svc", bad), bad)
	}
}
