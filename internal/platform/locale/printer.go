package locale

import (
	"embed"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"golang.org/x/text/feature/plural"
	"golang.org/x/text/language"
)

// Printer shows texts, times and amounts to one reader. The zero value is English and UTC. Printers are comparable: what is equal
// shows the same.
type Printer struct {
	Language string // one of Languages
	Zone     string // by its IANA name
}

// T returns a text in the reader's language; in English if the catalogue lacks it.
func (p Printer) T(t Text) string {
	if t.raw || t.key == "" {
		return t.key
	}
	format := p.format(t)
	if len(t.args) == 0 || !strings.Contains(format, "%") { // "in a minute" needs no number
		return format
	}
	args := make([]any, len(t.args))
	for i, arg := range t.args {
		args[i] = p.argument(arg)
	}
	return fmt.Sprintf(format, args...)
}

// argument returns an argument as fmt shows it.
func (p Printer) argument(arg any) any {
	switch arg := arg.(type) {
	case Text:
		return p.T(arg)
	case time.Time:
		return p.Time(arg)
	case Date:
		return p.Date(time.Time(arg))
	case Cents:
		return p.Money(int64(arg))
	case Tenths:
		return p.tenths(float64(arg))
	}
	return arg
}

func (p Printer) format(t Text) string {
	forms, ok := catalogues[p.Language][t.key]
	if !ok {
		if t.one != "" && t.n == 1 {
			return t.one
		}
		return t.key
	}
	return forms.of(p.Language, t.n)
}

// months of the year by language; those without are shown in English.
var months = map[string][12]string{
	"de": {"Januar", "Februar", "März", "April", "Mai", "Juni", "Juli", "August", "September", "Oktober", "November", "Dezember"},
}

// Date returns the day of a time: "28 November 2026".
func (p Printer) Date(t time.Time) string {
	t = t.In(p.Location())
	if names, ok := months[p.Language]; ok {
		return fmt.Sprintf("%d. %s %d", t.Day(), names[t.Month()-1], t.Year())
	}
	return t.Format("2 January 2006")
}

// zones are abbreviations that a language has of its own.
var zones = map[string]map[string]string{"de": {"CET": "MEZ", "CEST": "MESZ"}}

// Time returns a time with its zone: "28 November 2026, 14:05 CET".
func (p Printer) Time(t time.Time) string {
	t = t.In(p.Location())
	zone, _ := t.Zone()
	if own, ok := zones[p.Language][zone]; ok {
		zone = own
	}
	clock := t.Format("15:04")
	if p.Language == "de" {
		clock += " Uhr"
	}
	return p.Date(t) + ", " + clock + " " + zone
}

// Location returns the reader's zone; UTC for a name that the database lacks.
func (p Printer) Location() *time.Location {
	loc, err := Zone(p.Zone)
	if err != nil {
		return time.UTC
	}
	return loc
}

// Money returns an amount of US dollars: "USD 2549.00".
func (p Printer) Money(cents int64) string {
	sign := ""
	if cents < 0 {
		sign, cents = "-", -cents
	}
	if p.Language != "de" {
		return fmt.Sprintf("USD %s%d.%02d", sign, cents/100, cents%100)
	}
	whole := strconv.FormatInt(cents/100, 10)
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "." + whole[i:]
	}
	return fmt.Sprintf("%s%s,%02d USD", sign, whole, cents%100)
}

// tenths returns a number with at most one digit after the point: "3.5", "4".
func (p Printer) tenths(n float64) string {
	s := strconv.FormatFloat(math.Round(n*10)/10, 'f', -1, 64)
	if p.Language == "de" {
		s = strings.Replace(s, ".", ",", 1)
	}
	return s
}

// forms is the translation of a text, by CLDR's plural categories (one, few, many, other). Most texts have other alone.
type forms map[string]string

// UnmarshalJSON reads a string, or an object by plural categories.
func (f *forms) UnmarshalJSON(b []byte) error {
	if strings.HasPrefix(string(b), "{") {
		return json.Unmarshal(b, (*map[string]string)(f))
	}
	var s string
	*f = forms{}
	err := json.Unmarshal(b, &s)
	(*f)["other"] = s
	return err
}

// categories are the names of the plural's forms.
var categories = map[plural.Form]string{plural.Zero: "zero", plural.One: "one", plural.Two: "two", plural.Few: "few", plural.Many: "many"}

func (f forms) of(lang string, n int) string {
	if len(f) > 1 {
		if form, ok := f[categories[plural.Cardinal.MatchPlural(language.Make(lang), n, 0, 0, 0, 0)]]; ok {
			return form
		}
	}
	return f["other"]
}

//go:embed *.json
var files embed.FS

// catalogues holds the translations by language and English text. English has none.
var catalogues = func() map[string]map[string]forms {
	out := map[string]map[string]forms{}
	for _, name := range Languages[1:] {
		text, err := files.ReadFile(name + ".json")
		if err != nil {
			panic(err) // a file of the program
		}
		texts := map[string]forms{}
		if err := json.Unmarshal(text, &texts); err != nil {
			panic(fmt.Sprintf("locale: read %s.json: %v", name, err))
		}
		out[name] = texts
	}
	return out
}()
