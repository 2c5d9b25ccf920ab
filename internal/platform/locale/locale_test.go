package locale

import (
	"html/template"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestMatch(t *testing.T) {
	t.Parallel()
	for asked, want := range map[string]string{
		"de": "de", "de-AT,de;q=0.9,en;q=0.8": "de", "en-GB": "en", "fr;q=0.9, de;q=0.1": "de", "fr-CA fr de": "de", "DE": "de",
		"en-US,en;q=0.9,de;q=0.8": "en", "fr": "", "": "", "*": "", "x;;;": "", "de_DE.UTF-8@euro": "", "\x00": "", strings.Repeat("de,", 400): "",
	} {
		require.Equal(t, want, Match(asked), "%.40q", asked)
	}
}

func TestZone(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"UTC", "Europe/Berlin", "America/Argentina/Buenos_Aires"} {
		_, err := Zone(name)
		require.NoError(t, err, name)
	}
	for _, name := range []string{"", "Local", "Berlin", "../etc/passwd", "Europe/Berlin\x00", "europe/nowhere"} {
		_, err := Zone(name)
		require.Error(t, err, name)
	}
}

// Texts, times and amounts appear in the reader's language and zone; what a catalogue lacks, in English.
func TestPrinter(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 28, 13, 5, 0, 0, time.UTC)
	summer := time.Date(2026, 7, 1, 22, 30, 0, 0, time.UTC)
	en, de := Printer{}, Printer{Language: "de", Zone: "Europe/Berlin"}
	for _, c := range []struct {
		text Text
		en   string
		de   string
	}{
		{Say("Sign in"), "Sign in", "Anmelden"},
		{Say("%s mentioned you: %s", "Ada", "#7 100 %"), "Ada mentioned you: #7 100 %", "Ada hat Sie erwähnt: #7 100 %"},
		{Say("See and change %s", Say("teams")), "See and change teams", "Teams sehen und ändern"},
		{Count(1, "%d notification", "%d notifications", 1), "1 notification", "1 Benachrichtigung"},
		{Count(0, "%d notification", "%d notifications", 0), "0 notifications", "0 Benachrichtigungen"},
		{Count(1, "in a minute", "in %d minutes", 1), "in a minute", "in 1 Minute"},
		{Say("It will be tried again on %s.", Date(at)), "It will be tried again on 28 November 2026.", "Am 28. November 2026 wird es noch einmal versucht."},
		{Say("It should have had a first response by %s.", at), "It should have had a first response by 28 November 2026, 13:05 UTC.", "Sie hätte bis 28. November 2026, 14:05 Uhr MEZ eine erste Antwort haben sollen."},
		{Say("It should have had a first response by %s.", summer), "It should have had a first response by 1 July 2026, 22:30 UTC.", "Sie hätte bis 2. Juli 2026, 00:30 Uhr MESZ eine erste Antwort haben sollen."},
		{Say("Left to pay: %s", Cents(-123_456_705)), "Left to pay: USD -1234567.05", "Noch zu zahlen: -1.234.567,05 USD"},
		{Say("%s of 5", Tenths(4.46)), "4.5 of 5", "4,5 von 5"},
		{Say("%s of 5", Tenths(3)), "3 of 5", "3 von 5"},
		{Say("A text that nobody has translated: %s", "x"), "A text that nobody has translated: x", "A text that nobody has translated: x"},
		{Raw("Sign in %s"), "Sign in %s", "Sign in %s"},
		{Text{}, "", ""},
	} {
		require.Equal(t, c.en, en.T(c.text))
		require.Equal(t, c.de, de.T(c.text))
	}
	require.Equal(t, "28 November 2026, 13:05 UTC", Printer{Zone: "No/Where"}.Time(at), "a zone that is no more")
}

// In templates nothing that people write is markup, in either language.
func TestFuncs(t *testing.T) {
	t.Parallel()
	for lang, want := range map[string]string{
		English: "<b>Continue as &lt;i&gt;</b> <strong>&lt;App&gt;</strong> wants to: You have 1 unused code left. Back",
		"de":    "<b>Weiter als &lt;i&gt;</b> <strong>&lt;App&gt;</strong> möchte: Sie haben noch 1 unbenutzten Code. Zurück",
	} {
		page := template.Must(template.New("").Funcs(Funcs(lang)).Parse(`<b>{{t "Continue as %s" .Name}}</b> {{t "%s wants to:" (strong .Client)}} ` +
			`{{count 1 "You have %d unused code left." "You have %d unused codes left." 1}} {{t .Text}}`))
		var out strings.Builder
		require.NoError(t, page.Execute(&out, struct {
			Name, Client string
			Text         Text
		}{"<i>", "<App>", Say("Back")}))
		require.Equal(t, want, out.String())
	}
}
