package reportmail

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"atrium/internal/desk/request"
	"atrium/internal/notify/mail"
	"atrium/internal/op"
	"atrium/internal/platform/locale"
)

// maxRows is how many rows a mail has of each group. Its link leads to the rest.
const maxRows = 10

// none stands for a figure that there is not.
const none = "–"

// letter returns the mail about the week that began at a moment; r is nil for a report that has too many requests.
func (t *turn) letter(from time.Time, r *request.Reported) *op.Told {
	p := t.reader
	last := from.In(p.Location()).AddDate(0, 0, 6)
	paragraphs := []string{p.T(locale.Say("%s to %s, in brackets the week before:", locale.Date(from), locale.Date(last)))}
	if r == nil {
		paragraphs = []string{
			p.T(locale.Say("%s to %s", locale.Date(from), locale.Date(last))),
			p.T(locale.Say("The report has too many requests. Have one with more filters mailed.")),
		}
	} else {
		paragraphs = append(paragraphs, figures(p, r.Total, r.Before))
		for _, g := range r.Groups {
			if len(g.Rows) > 0 {
				paragraphs = append(paragraphs, group(p, g))
			}
		}
	}
	return &op.Told{
		Language: p.Language, Kind: t.row.ID, Subject: mail.Plain(p.T(locale.Say("Weekly report: %s", mail.Plain(t.row.Name, 100))), 150),
		Events: []op.Happening{{Paragraphs: paragraphs}}, Page: page(t.row.Query, from.In(p.Location()), last),
	}
}

// figures says each figure beside that of the week before, a line each.
func figures(p locale.Printer, now, before *request.Figures) string {
	count := func(n int) string { return strconv.Itoa(n) }
	lines := []locale.Text{
		locale.Say("Submitted: %s (%s)", count(now.Filed), count(before.Filed)),
		locale.Say("Completed: %s (%s)", count(now.Completed), count(before.Completed)),
		locale.Say("Still open: %s (%s)", count(now.Open), count(before.Open)),
		locale.Say("First response, median: %s (%s)", lasted(now.FirstResponseP50), lasted(before.FirstResponseP50)),
		locale.Say("Resolution, median: %s (%s)", lasted(now.ResolutionP50), lasted(before.ResolutionP50)),
		locale.Say("Service levels met: %s (%s)", met(now), met(before)),
		locale.Say("Satisfaction: %s (%s)", content(p, now), content(p, before)),
	}
	said := make([]string, len(lines))
	for i, line := range lines {
		said[i] = p.T(line)
	}
	return strings.Join(said, "\n")
}

// lasted says how long something took, so that the first two digits are read: 50 minutes, 3.5 hours, 2.1 days.
func lasted(minutes *int) locale.Text {
	switch {
	case minutes == nil:
		return locale.Raw(none)
	case *minutes < 120:
		return locale.Count(*minutes, "%s minute", "%s minutes", strconv.Itoa(*minutes))
	case *minutes < 2880:
		return locale.Say("%s hours", locale.Tenths(float64(*minutes)/60))
	}
	return locale.Say("%s days", locale.Tenths(float64(*minutes)/1440))
}

// met says how many of a hundred service levels were met.
func met(f *request.Figures) string {
	all := f.SLAMet + f.SLAMissed
	if all == 0 {
		return none
	}
	return strconv.Itoa((f.SLAMet*100+all/2)/all) + " %"
}

// content says how content requesters were.
func content(p locale.Printer, f *request.Figures) locale.Text {
	if f.Satisfaction == nil {
		return locale.Raw(none)
	}
	return locale.Say("%s of 5", locale.Tenths(*f.Satisfaction))
}

// headings are what requests are told apart by, nobody is what stands for those without one.
var (
	headings = map[string]locale.Text{
		"service": locale.Say("By service:"), "offering": locale.Say("By offering:"), "team": locale.Say("By team:"),
		"assignee": locale.Say("By assignee:"), "organization": locale.Say("By organization:"), "priority": locale.Say("By priority:"),
	}
	nobody     = locale.Say("None")
	priorities = map[string]locale.Text{
		"LOW": locale.Say("Low"), "MEDIUM": locale.Say("Medium"), "HIGH": locale.Say("High"), "URGENT": locale.Say("Urgent"),
	}
)

// group says how many requests each row of a group had, a line each. Rows whose name the reader does not see have their id.
func group(p locale.Printer, g *request.FigureGroup) string {
	lines := []string{p.T(headings[g.By])}
	for _, row := range g.Rows[:min(len(g.Rows), maxRows)] {
		name := mail.Plain(row.Name, 100)
		switch {
		case row.Key == nil:
			name = p.T(nobody)
		case g.By == "priority":
			name = p.T(priorities[*row.Key])
		case name == "":
			name = *row.Key
		}
		lines = append(lines, "- "+p.T(locale.Say("%s: %d submitted, %d completed", name, row.Figures.Filed, row.Figures.Completed)))
	}
	if len(g.Rows) > maxRows {
		lines = append(lines, "- "+p.T(locale.Say("and more")))
	}
	return strings.Join(lines, "\n")
}

// shown are the filters that the page of reports has.
var shown = []string{"teamId", "assigneeId", "serviceId", "offeringId", "organizationId", "priority"}

// page returns the path of the page that shows the report of these days, the first and the last.
func page(query string, first, last time.Time) string {
	out := "/figures?period=custom&from=" + first.Format(time.DateOnly) + "&to=" + last.Format(time.DateOnly)
	values, err := valuesOf(query)
	if err != nil {
		return out
	}
	for _, name := range shown {
		if list := slices.DeleteFunc(values[name], func(v string) bool { return v == "" }); len(list) > 0 {
			out += "&" + name + "=" + url.QueryEscape(strings.Join(list, ","))
		}
	}
	if by := values["by"]; len(by) > 0 { // the page shows one at a time
		out += "&by=" + url.QueryEscape(by[0])
	}
	return out
}
