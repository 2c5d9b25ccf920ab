package op

import (
	"atrium/ent"
	"atrium/internal/platform/locale"
)

// ReaderOf returns the printer for a user of a company: their own language and time zone, or else the company's, or else English and
// UTC. A nil user stands for the company itself.
func ReaderOf(u *ent.User, c *ent.Company) locale.Printer {
	p := locale.Printer{Language: Or(c.Locale, locale.English), Zone: Or(c.TimeZone, "UTC")}
	if u != nil {
		p.Language, p.Zone = Or(u.Locale, p.Language), Or(u.TimeZone, p.Zone)
	}
	return p
}
