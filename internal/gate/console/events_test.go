package console

import (
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/internal/op/events"
)

// Subscribers choose in the console from all events that there are.
func TestTheConsoleOffersAllEvents(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("web/src/pages/webhooks/events.ts")
	require.NoError(t, err)
	var offered []string
	for _, m := range regexp.MustCompile(`'([a-z_]+\.[a-z_]+)'`).FindAllSubmatch(source, -1) {
		offered = append(offered, string(m[1]))
	}
	require.ElementsMatch(t, events.Names(), offered)
}
