package search_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"atrium/ent"
	"atrium/ent/searchdocument"
	"atrium/internal/desk/catalog"
	"atrium/internal/desk/request"
	"atrium/internal/op"
	"atrium/internal/people"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/platform/words"
	"atrium/internal/test/testkit"
)

// A request is found by words of all that belongs to it, at once and after the index has them.
func TestRequestsAreFound(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		d := newDesk(t, w, w.A)
		hardware, access := d.offer("Hardware", "Gerät"), d.offer("Accounts", "VPN access")
		member := w.AsUser(w.A.Users[principal.Member])
		testkit.Run(t, w, d.owner, people.UpdateUser, people.UpdateUserInput{ByID: op.ByID{ID: w.A.Users[principal.Member].ID}, Name: op.SetTo("Zoë Osei")})
		laptop := d.file(member, hardware, "A laptop for Ёлка", "It does not start, see PROJ-42.")
		vpn := d.file(d.owner, access, "Reach the printer from home", "印刷機")
		both := []string{vpn, laptop}
		d.say(member, laptop, "The screen flickers", "public")
		d.say(d.owner, laptop, "Warranty is over", "internal")
		check := func() {
			t.Helper()
			for q, want := range map[string][]string{
				"laptop": {laptop}, "LAP": {laptop}, "елка": {laptop}, "start laptop": {laptop}, "proj-42": {laptop}, "proj 42": {laptop},
				"printer": {vpn}, "印刷": {vpn}, "機": {vpn}, "title:printer": {vpn}, "title:start": {}, `"the printer"`: {vpn}, `"printer the"`: {},
				"screen": {laptop}, "warranty over": {laptop}, "title:screen": {}, "screen warranty": {laptop}, "laptop flickers": {laptop}, "hardware warranty": {laptop},
				`"a laptop" "screen flickers"`: {laptop}, `"a laptop" "flickers screen"`: {}, "title:laptop screen": {laptop}, "title:screen laptop": {}, "screen printer": {}, "laptop screen -over": {},
				"hardware": {laptop}, "ger" + "at": {laptop}, "vpn": {vpn}, "osei": {laptop}, "zoe laptop": {laptop}, "hardware printer": {},
				"#1": {laptop}, "2": {vpn}, "1 laptop": {laptop}, "-laptop": {}, "the -laptop": {vpn}, "the": {vpn, laptop}, "the -hardware": {vpn}, "the -flickers": {vpn},
				`the -"screen flickers"`: {vpn}, `the -"flickers screen"`: both, "": both, "none": {}, "!?": {},
			} {
				require.Equal(t, want, d.find(d.owner, q), q)
				require.ElementsMatch(t, want, d.among(d.owner, q, both), q)
			}
			require.Equal(t, []string{laptop}, d.find(member, "screen"))
			require.Equal(t, []string{laptop}, d.find(member, "laptop screen"))
			require.Empty(t, d.find(member, "warranty"), "internal comments are for staff")
			require.Empty(t, d.find(member, "laptop warranty"), "nor beside other words")
			require.Empty(t, d.find(member, "printer"), "of somebody else")
			require.Equal(t, []string{laptop}, d.find(member, "laptop -warranty"), "nor do they leave anything out")
		}
		check()
		d.index()
		require.Zero(t, w.Store.Reader().SearchDocument.Query().Where(searchdocument.PendingGT(0)).CountX(d.owner))
		check()
		require.NoError(t, d.indexer().Reindex(t.Context()))
		check()
	})
}

// A word that many requests have finds all of them, by what is indexed and by what is not yet.
func TestFrequentWords(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		d := newDesk(t, w, w.A)
		o := d.offer("Hardware", "Device")
		var filed []string
		for range 60 {
			filed = append([]string{d.file(d.owner, o, "A common word", "")}, filed...)
		}
		require.Equal(t, filed, d.find(d.owner, "common wor"))
		d.index()
		require.Equal(t, filed, d.find(d.owner, "common wor"))
		require.Empty(t, d.find(d.owner, "common none"))
	})
}

// What changes is found by its new words at once and by the old ones no more, and the index has none of these.
func TestChangesAreFound(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		d := newDesk(t, w, w.A)
		o, other := d.offer("Hardware", "Device"), d.offer("Software", "Licence")
		id := d.file(d.owner, o, "Albatross", "Barnacle")
		said := d.say(d.owner, id, "Cormorant", "public")
		member := w.AsUser(w.A.Users[principal.Member])
		own := d.file(member, o, "Dunlin", "")
		note := d.say(d.owner, own, "Egret", "public")
		steps := []struct {
			do         func()
			found, not string
		}{
			{func() {
				testkit.Run(t, w, d.owner, request.Update, request.UpdateInput{ByID: op.ByID{ID: id}, Title: op.SetTo("Fulmar")})
			}, "fulmar", "albatross"},
			{func() {
				testkit.Run(t, w, d.owner, request.UpdateComment, request.UpdateCommentInput{ByID: op.ByID{ID: said}, Body: op.SetTo("Gannet")})
			}, "gannet", "cormorant"},
			{func() { testkit.Run(t, w, d.owner, request.DeleteComment, op.ByID{ID: said}) }, "fulmar", "gannet"},
			{func() {
				testkit.Run(t, w, d.owner, request.Move, request.MoveInput{ByID: op.ByID{ID: id}, OfferingID: other.ID})
			}, "software barnacle", "hardware barnacle"},
			{func() {
				testkit.Run(t, w, d.owner, catalog.UpdateService, catalog.UpdateServiceInput{ByID: op.ByID{ID: other.ServiceID}, Name: op.SetTo("Heron")})
			}, "heron", "software"},
		}
		for i, step := range steps {
			for _, late := range []bool{false, true} {
				if late {
					d.index()
				} else {
					step.do()
				}
				require.Equal(t, []string{id}, d.find(d.owner, step.found), "step %d, indexed: %v", i, late)
				require.Empty(t, d.find(d.owner, step.not), "step %d, indexed: %v", i, late)
			}
		}
		require.Equal(t, []string{own}, d.find(member, "egret"))
		testkit.Run(t, w, d.owner, request.UpdateComment, request.UpdateCommentInput{ByID: op.ByID{ID: note}, Visibility: op.SetTo("internal")})
		require.Empty(t, d.find(member, "egret"))
		d.index()
		require.Empty(t, d.find(member, "egret"))
		require.Equal(t, []string{own}, d.find(d.owner, "egret"))
	})
}

// On SQLite a word that is changed, deleted or erased is gone from the file and its log when the log is emptied. The rows have the words in
// capitals, and so have the audit log and the events; only documents and the index have them in small letters.
func TestWordsLeaveTheFile(t *testing.T) {
	t.Parallel()
	w := testkit.SQLiteWorld(t)
	d := newDesk(t, w, w.A)
	o := d.offer("Hardware", "Device")
	for i := range 50 { // beside others
		d.file(d.owner, o, fmt.Sprintf("Common words of many %d", i), "QUIXOTIC")
	}
	changed, erased := d.file(d.owner, o, "XAVERIAN", "YTTERBIUM"), d.file(d.owner, o, "ZYGOMORPH", "WOMBATIDAE")
	said, gone := d.say(d.owner, changed, "VULPECULA", "public"), d.say(d.owner, changed, "UMBELLIFER", "internal")
	d.index()
	left := func() (out []string) {
		require.NoError(t, w.Store.Scrub(t.Context()))
		for _, end := range []string{"", "-wal"} {
			file, err := os.ReadFile(w.Store.Path() + end)
			require.NoError(t, err)
			for _, word := range []string{"verian", "terbium", "gomorph", "mbatidae", "lpecula", "bellifer"} { // without what terms may share
				if bytes.Contains(file, []byte(word)) {
					out = append(out, word)
				}
			}
		}
		return out
	}
	require.Len(t, left(), 6)
	testkit.Run(t, w, d.owner, request.Update, request.UpdateInput{ByID: op.ByID{ID: changed}, Title: op.SetTo("Nothing"), Description: op.SetTo("of it")})
	testkit.Run(t, w, d.owner, request.DeleteComment, op.ByID{ID: gone})
	require.NoError(t, w.Engine.Work(t.Context(), w.A.Company.ID, "erasure", func(ctx context.Context, tx *op.Tx) error {
		return errors.Join(request.Erase(ctx, tx, "[erased]", erased), request.EraseComments(ctx, tx, "[erased]", said))
	}))
	require.Empty(t, left(), "before the documents are written anew")
	d.index()
	require.Empty(t, left())
	require.Len(t, d.find(d.owner, "quixotic"), 50)
}

// reference is a request as Go alone would search it, with the comments on it.
type reference struct {
	id               string
	ofMember         bool
	title            string
	texts            []string   // its own, the title among them
	names            [][]string // of its service and its offering, and the requester's, which serves staff alone
	public, internal []string
}

// finds reports whether a search finds the request: each word is in it or in a comment, and no excluded one is anywhere.
func (r reference) finds(q words.Query, staff bool) bool {
	names, comments := r.names[:2], r.public
	if staff {
		names, comments = r.names, slices.Concat(r.public, r.internal)
	}
	docs := []func(words.Term) bool{func(t words.Term) bool {
		if t.Title {
			return holds(t, r.title)
		}
		return holds(t, r.texts...) || slices.ContainsFunc(names, func(name []string) bool { return holds(t, name...) })
	}}
	for _, c := range comments {
		docs = append(docs, func(t words.Term) bool { return !t.Title && holds(t, c) })
	}
	for _, has := range docs {
		if slices.ContainsFunc(q.Not, has) {
			return false
		}
	}
	return !q.Empty() && !slices.ContainsFunc(q.Terms, func(t words.Term) bool {
		return !slices.ContainsFunc(docs, func(has func(words.Term) bool) bool { return has(t) })
	})
}

func holds(t words.Term, texts ...string) bool {
	var d words.Document
	for _, text := range texts {
		d.Add(text, 'x')
	}
	return d.Has('x', t)
}

// Both databases find what Go finds, whatever is written and searched for, by what is indexed and by what is not yet.
func TestDatabasesFindAlike(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		d := newDesk(t, w, w.A)
		o := d.offer("Hardware", "A laptop")
		member := w.AsUser(w.A.Users[principal.Member])
		word := rapid.SampledFrom([]string{
			"laptop", "LAP", "Ноутбук", "ёлка", "елка", "印刷機", "印刷", "刷", "Straße", "strasse", "anna@example.com", "example.com", "10.0.0.1", "2026-11-29", "PROJ-42",
			"iPhone手机", "สวัสดี", "안녕", "don't", "e-mail", "a", "42", "İzmir", "ﬁn", "é", "e\u0301",
		})
		text := rapid.Custom(func(t *rapid.T) string { return "x " + strings.Join(rapid.SliceOfN(word, 0, 5).Draw(t, "words"), " ") })
		made := rapid.Custom(func(t *rapid.T) string {
			return strings.Join(rapid.SliceOfN(rapid.OneOf(word, word, rapid.SampledFrom([]string{`"`, "-", "title:", " ", "*", "'", `\`, ":", "(", "AND", "NOT"})), 1, 7).Draw(t, "query"),
				rapid.SampledFrom([]string{"", " "}).Draw(t, "between"))
		})
		var all []reference
		draws := 0
		rapid.Check(t, func(rt *rapid.T) {
			if draws%5 == 0 && len(all) < 60 {
				as, own := d.owner, rapid.Bool().Draw(rt, "the member's")
				if own {
					as = member
				}
				r := reference{ofMember: own, title: text.Draw(rt, "title")}
				r.texts = []string{r.title, text.Draw(rt, "description"), strconv.Itoa(len(all) + 1)}
				r.id = d.file(as, o, r.texts[0], r.texts[1])
				by := w.A.Owner
				if own {
					by = w.A.Users[principal.Member]
				}
				r.names = [][]string{{"Hardware"}, {"A laptop"}, {by.Name, by.Email}}
				for _, c := range rapid.SliceOfN(text, 0, 2).Draw(rt, "public") {
					d.say(d.owner, r.id, c, "public")
					r.public = append(r.public, c)
				}
				for _, c := range rapid.SliceOfN(text, 0, 1).Draw(rt, "internal") {
					d.say(d.owner, r.id, c, "internal")
					r.internal = append(r.internal, c)
				}
				all = append(all, r)
			}
			if draws%12 == 0 {
				d.index()
			}
			draws++
			search := made.Draw(rt, "search")
			q := words.Parse(search)
			for who, as := range map[string]context.Context{"owner": d.owner, "member": member} {
				var want, ids []string
				for _, r := range all {
					ids = append(ids, r.id)
					if (who == "owner" || r.ofMember) && r.finds(q, who == "owner") {
						want = append(want, r.id)
					}
				}
				if search != "" {
					require.ElementsMatch(t, want, d.find(as, search), "%s: %q", who, search)
					require.ElementsMatch(t, want, d.among(as, search, ids), "%s: %q", who, search)
				}
			}
		})
	})
}

// Two nodes write documents. One holds those that it writes until they are written: the other neither waits for it nor writes them, since
// what it has read might be older than the row by then.
func TestOneIndexerWritesADocument(t *testing.T) {
	t.Parallel()
	w := testkit.PostgresWorld(t)
	d := newDesk(t, w, w.A)
	filed := d.file(d.owner, d.offer("Hardware", "Device"), "Quokka", "")
	pending := func(db *ent.Client) (n int) {
		n, err := db.SearchDocument.Query().Where(searchdocument.RowID(filed), searchdocument.PendingGT(0)).Count(d.owner)
		require.NoError(t, err)
		return n
	}
	require.NoError(t, w.Store.Write(d.owner, func(ctx context.Context, tx *store.Tx) error {
		_, err := store.Lock(tx, tx.SearchDocument.Query().Where(searchdocument.RowID(filed))).All(ctx)
		require.NoError(t, err)
		d.index()
		require.Equal(t, 1, pending(w.Store.Reader()))
		return nil
	}))
	d.index()
	require.Zero(t, pending(w.Store.Reader()))
	require.Equal(t, []string{filed}, d.find(d.owner, "quokka"))
}
