package mention_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/internal/desk/mention"
	"atrium/internal/platform/markdown"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
)

// Who is mentioned is found by id and by address, each once, and not within words and addresses.
func TestIn(t *testing.T) {
	t.Parallel()
	const id = "usr_01k9ye4ryzf7stj6dqnm8x2v3b"
	require.Equal(t, []string{"ada@x.test", "bob@x.test", id}, mention.In("(@"+id+"), @ADA@x.test: see @bob@x.test. x@eve@x.test eve@x.test @eve", "@"+id))
	require.Empty(t, mention.In("", "nobody @ home"))
}

// A text shows the names of those whom it mentions, of this company alone; what names nobody stays, and a name is no markup.
func TestNames(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		lead := w.A.Users[principal.Agent]
		require.NoError(t, w.Store.Write(w.As(w.A, principal.Owner), func(ctx context.Context, tx *store.Tx) error {
			return tx.User.UpdateOneID(lead.ID).SetName("Ada *the* [lead](https://evil.test)").Exec(ctx)
		}))
		foreign := w.B.Users[principal.Agent]
		text := "@" + lead.ID + ", (@" + lead.Email + ") @" + foreign.ID + " @" + foreign.Email + " @nobody@x.test"
		names, err := mention.Read(w.As(w.A, principal.Owner), w.Store.Reader(), text)
		require.NoError(t, err)
		require.Equal(t, "@Ada *the* [lead](https://evil.test), (@Ada *the* [lead](https://evil.test)) @"+foreign.ID+" @"+foreign.Email+" @nobody@x.test", names.In(text))
		require.Equal(t, "@Ada *the* [lead](https://evil.test)", markdown.Text(markdown.Parse(names.InMarkdown("@"+lead.ID))), "as it is written, and no link")
		require.NotContains(t, string(markdown.HTML(markdown.Parse(names.InMarkdown("@"+lead.Email)))), "<a")
	})
}
