package account_test

import (
	"context"
	"flag"
	"mime"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/internal/identity/account"
	"atrium/internal/notify/notice"
	"atrium/internal/op"
	"atrium/internal/people"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
)

var update = flag.Bool("update", false, "write the golden files")

// changing is what differs from run to run: tokens, and the time of a change.
var changing = regexp.MustCompile(`token=[A-Za-z0-9_-]+|am \d+\. \S+ \d{4}, \d\d:\d\d Uhr \S+\.`)

// Every mail about accounts, in German. A link stands on a line of its own.
func TestMailsInGerman(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		u := s.member()
		s.change(func(ctx context.Context, tx *store.Tx) error {
			if err := tx.Company.UpdateOneID(s.A.Company.ID).SetLocale("de").SetTimeZone("Europe/Berlin").SetName("Müller & Söhne").Exec(ctx); err != nil {
				return err
			}
			return tx.User.UpdateOneID(u.ID).SetName("Mia").Exec(ctx)
		})
		u = s.user(u)
		s.change(func(ctx context.Context, tx *store.Tx) error { return account.SendAll(ctx, tx, s.mailer, u) })
		s.change(func(ctx context.Context, tx *store.Tx) error {
			return s.mailer.Tell(ctx, tx, u, op.Told{
				Language: "de", Kind: notice.Progress, Subject: "#7 Laptop", Events: []op.Happening{{Paragraphs: []string{"Ada hat auf Ihre Anfrage geantwortet."}, Quote: "Welcher?"}}, Page: "/requests/req_7",
			})
		})
		var all []string
		for _, m := range s.mails(u.Email) {
			subject, err := new(mime.WordDecoder).DecodeHeader(m.Get("Subject"))
			require.NoError(t, err)
			text := m.text
			if _, plain, ok := strings.Cut(text, "text/plain"); ok { // of a letter, which has a page too
				_, plain, _ = strings.Cut(plain, "\n\n")
				text, _, _ = strings.Cut(plain, "\n--")
				require.Contains(t, m.text, `<html lang="de">`)
				require.Contains(t, m.text, ">In Atrium öffnen</a>")
			}
			all = append(all, "Betreff: "+subject+"\n\n"+changing.ReplaceAllString(strings.TrimSpace(text), "…"))
		}
		slices.Sort(all) // mails of one moment are sent in any order
		got := strings.ReplaceAll(strings.Join(all, "\n\n==========\n\n"), u.Email, "mia@x.test") + "\n"
		golden := filepath.Join("testdata", "mails.de.golden")
		if *update {
			require.NoError(t, os.WriteFile(golden, []byte(got), 0o600))
		}
		want, err := os.ReadFile(golden)
		require.NoError(t, err)
		require.Equal(t, string(want), got)
	})
}

// Times in mails are those of the reader's zone.
func TestMailsTellTheTimeThere(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		u := s.member()
		testkit.Run(t, s.World, s.As(s.A, principal.Member), people.UpdateViewer, people.UpdateViewerInput{TimeZone: op.SetTo("Asia/Tokyo")})
		s.change(func(ctx context.Context, tx *store.Tx) error {
			return s.mailer.Notify(ctx, tx, u.AccountID, account.PasswordChanged)
		})
		tokyo, err := time.LoadLocation("Asia/Tokyo")
		require.NoError(t, err)
		require.Regexp(t, "This was on "+s.Clock.Now().In(tokyo).Format("2 January 2006, 15:")+`\d\d JST\. If it was you`, s.mails(u.Email)[0].text)
	})
}

// A stranger's pages and mails are in the browser's language; those of a person in theirs, once it is known who they are.
func TestPagesInGerman(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		u := s.member()
		b := s.browser()
		b.Transport = asking{b.Transport, "de-DE,de;q=0.9,en;q=0.5"}
		p := b.get("/forgot")
		require.Equal(t, "de", p.Find("html").AttrOr("lang", ""))
		require.Equal(t, "Neues Passwort setzen", p.title())
		require.Equal(t, "Geben Sie eine E-Mail-Adresse ein.", p.submit("email", "x").faults())
		require.Equal(t, "Sehen Sie in Ihr Postfach", p.submit("email", u.Email).title())
		require.Equal(t, []string{"Neues Passwort setzen"}, s.subjects(u.Email))
		p = b.get(s.lastLink(u.Email))
		require.Equal(t, "Das Passwort muss mindestens 8 Zeichen haben.", p.submit("password", "short").faults())
		require.Equal(t, "Das Passwort darf keine bloße Wiederholung oder Folge sein.", p.submit("password", "aaaaaaaaaaaa").faults())
		require.Equal(t, "Ihr neues Passwort ist gesetzt", p.submit("password", fresh).title())
		require.Equal(t, "Dieser Link gilt nicht mehr", b.get("/reset?token=x").title())
		require.Equal(t, "Diese Seite gibt es nicht", b.get("/account/nothing").title())

		require.Equal(t, "Anmelden", b.get("/account").title())
		p = b.get("/account").submit("email", u.Email, "password", fresh)
		require.Equal(t, "Ihr Konto", p.title())
		require.Contains(t, p.Find("main").Text(), "Mitglied")
		testkit.Run(t, s.World, s.As(s.A, principal.Member), people.UpdateViewer, people.UpdateViewerInput{Locale: op.SetTo("en")})
		require.Equal(t, "Your account", b.get("/account").title(), "it is known who they are")
		require.Equal(t, "Ihr Konto", b.get("/account?ui_locales=fr+de").title(), "who sent them here says the language")
	})
}

// A company that somebody opens on German pages is a German one.
func TestSignUpInGerman(t *testing.T) {
	eachOpen(t, func(t *testing.T, s *site) {
		b := s.browser()
		b.Transport = asking{b.Transport, "de"}
		require.Equal(t, "Sehen Sie in Ihr Postfach", b.get("/signup").submit("company", "Werft", "email", newcomer).title())
		require.Contains(t, s.mails(newcomer)[0].text, "möchte mit dieser E-Mail-Adresse ein Unternehmen einrichten")
		p := b.get(s.lastLink(newcomer))
		require.Equal(t, "Werft einrichten", p.title())
		require.Equal(t, "Werft ist eingerichtet", p.submit("name", "Grete", "password", fresh).title())
		require.Equal(t, "de", *s.opened("Werft")[0].Locale)
	})
}

// asking sends a header with the languages that a browser prefers.
type asking struct {
	http.RoundTripper
	languages string
}

func (a asking) RoundTrip(r *http.Request) (*http.Response, error) {
	r.Header.Set("Accept-Language", a.languages)
	return a.RoundTripper.RoundTrip(r)
}
