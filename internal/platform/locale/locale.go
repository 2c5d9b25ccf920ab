package locale

import (
	"errors"
	"strings"
	"time"
	_ "time/tzdata" // the zones are the same wherever the product runs

	"golang.org/x/text/language"
)

// English is the language of texts that no catalogue has.
const English = "en"

// Languages lists the languages that ship, as BCP 47 tags. The first is English.
var Languages = []string{English, "de"}

var matcher = func() language.Matcher {
	tags := make([]language.Tag, len(Languages))
	for i, name := range Languages {
		tags[i] = language.MustParse(name)
	}
	return language.NewMatcher(tags)
}()

// maxAsked bounds a list of languages, in bytes. Browsers send some fifty.
const maxAsked = 500

// Match returns the language that ships and fits best what somebody asks for: the value of Accept-Language, or tags with blanks between
// them (ui_locales). Empty when none fits.
func Match(asked string) string {
	if len(asked) > maxAsked {
		return ""
	}
	if !strings.ContainsAny(asked, ",;") {
		asked = strings.Join(strings.Fields(asked), ",")
	}
	tags, _, err := language.ParseAcceptLanguage(asked)
	if err != nil || len(tags) == 0 {
		return ""
	}
	_, i, confidence := matcher.Match(tags...)
	if confidence == language.No {
		return ""
	}
	return Languages[i]
}

// Zone returns a time zone by its name in the IANA database. The machine's own zone (Local) is none.
func Zone(name string) (*time.Location, error) {
	if name == "" || name == "Local" {
		return nil, errors.New("no name of a time zone")
	}
	return time.LoadLocation(name)
}
