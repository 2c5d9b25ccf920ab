package inmail

import (
	"strings"
	"unicode"
)

// line is one of a text, with what the markup said about it.
type line struct {
	text  string
	cited bool // quoted from another mail
	cut   bool // what another mail said begins here, up to the end
	added bool // written by the mail program: who wrote what is quoted, and when
}

// maxContext is how many lines of a quotation stay between two answers.
const maxContext = 20

// plainLines returns the lines of plain text.
func plainLines(s string) []line {
	var out []line
	for l := range strings.Lines(s) {
		l = strings.TrimRight(l, "\n")
		out = append(out, line{text: l, cited: strings.HasPrefix(strings.TrimPrefix(l, " "), ">")})
	}
	return out
}

// own reports whether the author wrote the line.
func (l line) own() bool { return !l.cited && !l.added && l.text != "" }

// divide parts what the author wrote from what was there before.
func (m *Message) divide(lines []line, o Options) {
	for i := range lines {
		lines[i].text = strings.TrimRightFunc(lines[i].text, unicode.IsSpace)
	}
	m.Whole = joinLines(lines)
	if m.Forward = m.Forward || !m.Reply && passedOn(lines); m.Forward && !o.OwnWords {
		m.Text = m.Whole
		return
	}
	markIntroductions(lines)
	markCut(lines, o.Markers)
	markSignature(lines)
	runs := passages(lines)
	var answers int
	for _, r := range runs {
		if r[0].own() {
			answers++
		}
	}
	var text, quoted []line
	seen := 0
	for _, r := range runs {
		switch {
		case r[0].own():
			seen++
			text = append(text, r...)
		case !o.OwnWords && answers > 1 && seen < answers && quotations(r) <= maxContext:
			for _, l := range r {
				if l.added {
					quoted = append(quoted, l)
				} else {
					text = append(text, l)
				}
			}
		default:
			text, quoted = append(text, line{}), append(quoted, r...)
		}
	}
	m.Text, m.Quoted = joinLines(text), joinLines(quoted)
}

// passages parts lines into runs that are the author's, and others. Empty lines belong to the run before them.
func passages(lines []line) [][]line {
	var out [][]line
	start := 0
	for start < len(lines) && lines[start].text == "" {
		start++
	}
	for i := start + 1; i <= len(lines); i++ {
		if i == len(lines) || lines[i].text != "" && lines[i].own() != lines[start].own() {
			out = append(out, lines[start:i])
			start = i
		}
	}
	return out
}

// quotations returns how many lines of a run are quoted.
func quotations(run []line) int {
	n := 0
	for _, l := range run {
		if l.cited && l.text != "" {
			n++
		}
	}
	return n
}

// joinLines returns lines as a text, without empty lines at its ends, and at most two in a row.
func joinLines(lines []line) string {
	var out strings.Builder
	empty := 0
	for _, l := range lines {
		if l.text == "" {
			empty++
			continue
		}
		if out.Len() > 0 {
			out.WriteString(strings.Repeat("\n", 1+min(empty, 2)))
		}
		empty = 0
		out.WriteString(l.text)
	}
	return out.String()
}

// markIntroductions marks what mail programs write above a quotation, over up to four lines: On Monday Ada wrote: It is also the beginning
// of a quotation that has no marks of its own.
func markIntroductions(lines []line) {
	for i := range lines {
		if !endsIntroduction(lines[i].text) {
			continue
		}
		if lines[i].cited { // Apple Mail quotes its own introduction
			lines[i].added = introduction([]line{{text: strings.TrimLeft(lines[i].text, "> ")}})
			continue
		}
		for n := range min(4, i+1) {
			if !lines[i-n].own() {
				break
			}
			if !introduction(lines[i-n : i+1]) {
				continue
			}
			marked := quotedBelow(lines[i+1:])
			for k := i - n; k <= i; k++ {
				lines[k].added, lines[k].cut = marked, !marked && k == i-n
			}
			break
		}
	}
}

// quotedBelow reports whether the next line that is not empty is quoted.
func quotedBelow(lines []line) bool {
	for _, l := range lines[:min(len(lines), 4)] {
		if l.text != "" {
			return l.cited
		}
	}
	return false
}

// markCut finds where another mail begins that goes on to the end: at our marker, at what the markup says, at an introduction or at the
// header of the other mail. Below a marker with nothing above it people have answered below, so it counts for nothing then.
func markCut(lines []line, markers []string) {
	above := false
	for i := range lines {
		marker := hasMarker(lines[i].text, markers)
		if marker && !above {
			lines[i].added = true
			continue
		}
		if !marker && !lines[i].cut && (lines[i].cited || !separates(lines[i:])) {
			above = above || lines[i].own()
			continue
		}
		if marker {
			introduce(lines[:i])
		}
		for k := i; k < len(lines); k++ {
			lines[k].cited = true
		}
		return
	}
}

// introduce marks the last line as an introduction if it ends as one, in whatever language.
func introduce(lines []line) {
	for i := len(lines) - 1; i >= 0; i-- {
		if lines[i].text != "" {
			lines[i].added = lines[i].added || endsIntroduction(lines[i].text)
			return
		}
	}
}

func hasMarker(s string, markers []string) bool {
	for _, marker := range markers {
		if marker != "" && strings.Contains(s, marker) {
			return true
		}
	}
	return false
}

// maxSignature is how many lines a signature has at most: below a longer one somebody drew a line within the text.
const maxSignature = 20

// markSignature marks a signature below the delimiter "-- ", and the line that telephones add.
func markSignature(lines []line) {
	last := -1
	for i := len(lines) - 1; i >= 0; i-- {
		if !lines[i].own() {
			continue
		}
		if last < 0 {
			last = i
			if sentFrom(lines[i].text) {
				lines[i].added = true
				last = -1
				continue
			}
		}
		if lines[i].text == "--" && last-i <= maxSignature {
			for k := i; k <= last; k++ {
				lines[k].added = true
			}
			return
		}
		if last-i > maxSignature {
			return
		}
	}
}
