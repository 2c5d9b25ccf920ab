package finder_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"atrium/ent"
	"atrium/ent/attachment"
	"atrium/internal/desk/catalog"
	"atrium/internal/desk/finder"
	"atrium/internal/desk/request"
	"atrium/internal/desk/search"
	"atrium/internal/op"
	"atrium/internal/people"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/platform/words"
	"atrium/internal/test/testkit"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// desk is a company in which requests are filed and looked for.
type desk struct {
	*testkit.World
	t             *testing.T
	owner, member context.Context
	offering      *ent.Offering
}

func newDesk(t *testing.T, w *testkit.World) *desk {
	d := &desk{World: w, t: t, owner: w.As(w.A, principal.Owner), member: w.As(w.A, principal.Member)}
	s := testkit.Run(t, w, d.owner, catalog.CreateService, catalog.CreateServiceInput{Name: "Hardware", Description: new("Devices of all kinds")})
	d.offering = testkit.Run(t, w, d.owner, catalog.CreateOffering, catalog.CreateOfferingInput{ByID: op.ByID{ID: s.ID}, Name: "Café terminal"})
	return d
}

func (d *desk) file(as context.Context, title, description string) string {
	d.t.Helper()
	return testkit.Run(d.t, d.World, as, request.Create, request.CreateInput{
		ServiceID: d.offering.ServiceID, OfferingID: d.offering.ID, Title: title, Description: &description, Fields: map[string]any{"serial": "QX-77"},
	}).ID
}

func (d *desk) say(id, body, visibility string) {
	d.t.Helper()
	testkit.Run(d.t, d.World, d.owner, request.CreateComment, request.CreateCommentInput{ByID: op.ByID{ID: id}, Body: body, Visibility: &visibility})
}

func (d *desk) attach(id, name string) {
	d.t.Helper()
	require.NoError(d.t, d.Store.Write(d.owner, func(ctx context.Context, tx *store.Tx) error {
		return tx.Attachment.Create().SetCompanyID(d.A.Company.ID).SetRequestID(id).SetName(name).SetSize(1).SetStatus(attachment.StatusREADY).
			SetCreatedBy(d.A.Owner.ID).Exec(ctx)
	}))
}

// found returns what somebody finds, a line a row: its type and title, and the text that has the words, these in brackets.
func (d *desk) found(as context.Context, in finder.Input) []string {
	d.t.Helper()
	out := []string{}
	for _, h := range testkit.Run(d.t, d.World, as, finder.Search, in).Hits {
		line := h.Type + ": " + marked(h.Title, h.Marks)
		if h.Text != nil {
			line += " (" + *h.In + ": " + marked(h.Text.Text, h.Text.Marks) + ")"
		}
		out = append(out, line)
	}
	return out
}

// A search shows why a row was found: the words in its title or name, and the piece of another text that has them.
func TestWhatIsFoundSaysWhy(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		d := newDesk(t, w)
		laptop := d.file(d.member, "Laptop is slow", "The fan of the laptop is **loud**.")
		d.say(laptop, "We have ordered a new cooler", "public")
		d.say(laptop, "Warranty is over", "internal")
		d.attach(laptop, "invoice-2026.pdf")
		testkit.Run(t, w, d.owner, people.UpdateUser, people.UpdateUserInput{ByID: op.ByID{ID: w.A.Users[principal.Agent].ID}, Name: op.SetTo("Zoë Osei")})
		check := func() {
			t.Helper()
			for q, want := range map[string][]string{
				"slow laptop":    {"Request: [Laptop] is [slow] (DESCRIPTION: The fan of the [laptop] is **loud**.)"},
				"loud fan":       {"Request: Laptop is slow (DESCRIPTION: The [fan] of the laptop is **[loud]**.)"},
				"cooler":         {"Request: Laptop is slow (COMMENT: We have ordered a new [cooler])"},
				"warranty":       {"Request: Laptop is slow (COMMENT: [Warranty] is over)"},
				"invoice":        {"Request: Laptop is slow (FILE: [invoice]-2026.pdf)"},
				"qx-77":          {"Request: Laptop is slow (ANSWERS: [QX-77])"},
				"devices kinds":  {"Service: Hardware"}, // a request is not found by what its service is about
				"cafe":           {"Request: Laptop is slow", "Offering: [Café] terminal"},
				"osei zoe":       {"User: [Zoë] [Osei]"},
				"kinds -devices": {},
			} {
				require.Equal(t, want, d.found(d.owner, finder.Input{Q: q}), q)
			}
			require.Empty(t, d.found(d.member, finder.Input{Q: "warranty"}), "internal comments are for staff")
			require.Equal(t, []string{"Request: Laptop is slow (COMMENT: We have ordered a new [cooler])"}, d.found(d.member, finder.Input{Q: "cooler"}))
			require.Empty(t, d.found(w.As(w.B, principal.Owner), finder.Input{Q: "laptop"}), "another company")
		}
		check()
		require.NoError(t, search.NewIndexer(w.Store, slog.New(slog.DiscardHandler)).Write(t.Context()))
		check()
	})
}

// The request with the number comes first; then the newest, or those that have the words in their titles. What there is more of is said.
func TestOrderOfWhatIsFound(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		d := newDesk(t, w)
		d.file(d.owner, "Printer", "The first")
		d.file(d.owner, "A screen beside the printers", "")
		d.file(d.owner, "Something else", "About the printer, and request 1")
		require.Equal(t, []string{"Request: Printer", "Request: Something else (DESCRIPTION: About the printer, and request [1])"}, d.found(d.owner, finder.Input{Q: " #1 "}))
		require.Equal(t, []string{
			"Request: Something else (DESCRIPTION: About the [printer], and request 1)", "Request: A screen beside the [printers]", "Request: [Printer]",
		}, d.found(d.owner, finder.Input{Q: "printer"}))
		require.Equal(t, []string{
			"Request: [Printer]", "Request: A screen beside the [printers]", "Request: Something else (DESCRIPTION: About the [printer], and request 1)",
		}, d.found(d.owner, finder.Input{Q: "printer", Sort: "relevance"}))
		for first, more := range map[int][]string{2: {"Request"}, 3: {}} {
			r := testkit.Run(t, w, d.owner, finder.Search, finder.Input{Q: "printer", First: first, Types: []string{"Request", "Team"}})
			require.Len(t, r.Hits, first)
			require.Equal(t, more, r.More)
		}
	})
}

// Who may not list a type does not find it: by role, by scopes, and by the company's policies.
func TestSearchHasTheRightsOfLists(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		d := newDesk(t, w)
		d.file(d.owner, "Hardware that smells", "")
		all := []string{"Request: [Hardware] that smells", "Service: [Hardware]"}
		require.Equal(t, all, d.found(d.owner, finder.Input{Q: "hardware"}))
		p, _ := principal.From(d.owner)
		narrowed := *p
		narrowed.Scopes = principal.ScopeOf("requests:read")
		require.Equal(t, all[:1], d.found(principal.With(t.Context(), &narrowed), finder.Input{Q: "hardware"}))
		require.Empty(t, d.found(d.member, finder.Input{Q: "osei"}), "members do not list people")
	})
}

// Bad input is refused, with the field.
func TestSearchRefuses(t *testing.T) {
	t.Parallel()
	d := newDesk(t, testkit.SQLiteWorld(t))
	for field, in := range map[string]finder.Input{
		"q": {Q: "x"}, "q ": {}, "first": {Q: "printer", First: 21}, "types": {Q: "printer", Types: []string{"Company"}}, "sort": {Q: "printer", Sort: "best"},
	} {
		_, _, err := op.Run(d.owner, d.Engine, finder.Search, in, nil)
		var refused *apperr.Error
		require.ErrorAs(t, err, &refused, field)
		require.Len(t, refused.Details, 1, field)
		require.Contains(t, refused.Details[0].Field, strings.TrimSpace(field))
	}
}

// marked returns a text with the marked words in brackets.
func marked(text string, marks []words.Mark) string {
	runes, out, at := []rune(text), "", 0
	for _, m := range marks {
		out += string(runes[at:m.Start]) + "[" + string(runes[m.Start:m.End]) + "]"
		at = m.End
	}
	return out + string(runes[at:])
}
