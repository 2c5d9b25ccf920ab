package mail

import (
	"cmp"
	_ "embed" // the template
	"fmt"
	"html/template"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"atrium/internal/op"
	"atrium/internal/platform/locale"
	"atrium/internal/platform/markdown"
	"atrium/internal/platform/text"
)

// Letter is the content of a mail that says what happened, leads to it, and can be switched off.
type Letter struct {
	Language    string         // of locale.Languages; of the texts and of what the letter adds to them
	Answers     bool           // whether an answer is read: the letter begins with AnswerAbove
	Note        bool           // an answer is a note for staff, as the letter says
	Title       string         // what it is about; empty for none
	Events      []op.Happening // quotes as Quote returns them
	Link        string         // of the page that shows it; empty for none
	Decide      bool           // the page asks for a decision: a link leads to each way to decide, and neither decides
	Rate        string         // the address at which the reader says how content they are; empty for none
	Unsubscribe string         // the address that ends mails of this kind
}

// Approve is the link of a letter that asks for a decision. The console's page shows the decision with that button focused.
func (l Letter) Approve() string { return l.Link + "?decide=approve" }

// Reject is the other link of such a letter.
func (l Letter) Reject() string { return l.Link + "?decide=reject" }

// AnswerAbove is the line above which people write their answers to a letter.
var AnswerAbove = locale.Say("— Please write your answer above this line —")

// AnswerIsNote is what a letter says whose answer is a note for staff.
var AnswerIsNote = locale.Say("Your answer will be an internal note that staff alone read.")

//go:embed letter.html
var letterHTML string

// letterPages are the page by language.
var letterPages = func() map[string]*template.Template {
	out := map[string]*template.Template{}
	for _, lang := range locale.Languages {
		t := template.New("letter").Funcs(locale.Funcs(lang)).Funcs(template.FuncMap{
			"lines":    func(s string) []string { return strings.Split(s, "\n") },
			"markdown": func(s string) template.HTML { return markdown.HTML(markdown.Parse(s)) },
		})
		out[lang] = template.Must(t.Parse(letterHTML))
	}
	return out
}()

// Text returns the letter as plain text. Each link stands on a line of its own.
func (l Letter) Text() string {
	if out := l.text(); len(out) <= maxText {
		return out
	}
	return l.asTyped().text()
}

// asTyped returns the letter with what people wrote as they typed it: marks of Markdown, such as those of lists in lists, may become many times
// as long as what was typed.
func (l Letter) asTyped() Letter {
	l.Events = slices.Clone(l.Events)
	for i := range l.Events {
		l.Events[i].Markdown = false
	}
	return l
}

func (l Letter) text() string {
	p := locale.Printer{Language: l.Language}
	var parts []string
	if l.Answers {
		parts = append(parts, p.T(AnswerAbove))
	}
	if l.Note {
		parts = append(parts, p.T(AnswerIsNote))
	}
	if l.Title != "" {
		parts = append(parts, l.Title)
	}
	for _, e := range l.Events {
		parts = append(parts, e.Paragraphs...)
		said := e.Quote
		if e.Markdown {
			said = markdown.Text(markdown.Parse(said))
		}
		if said != "" {
			parts = append(parts, "> "+strings.ReplaceAll(wrapped(said), "\n", "\n> "))
		}
	}
	switch {
	case l.Link != "" && l.Decide:
		parts = append(parts, p.T(locale.Say("Approve:"))+"\n"+l.Approve(), p.T(locale.Say("Reject:"))+"\n"+l.Reject())
	case l.Link != "":
		parts = append(parts, p.T(locale.Say("Open it in Atrium:"))+"\n"+l.Link)
	}
	if l.Rate != "" {
		parts = append(parts, p.T(locale.Say("How did we do? Rate it:"))+"\n"+l.Rate)
	}
	return wrapped(strings.Join(parts, "\n\n")) + "\n\n-- \nAtrium\n" + p.T(locale.Say("No more mails of this kind:")) + "\n" + l.Unsubscribe + "\n"
}

// HTML returns the letter as a page without images, for the light and the dark.
func (l Letter) HTML() (string, error) {
	out, err := l.html()
	if err == nil && len(out) > maxText {
		return l.asTyped().html()
	}
	return out, err
}

func (l Letter) html() (string, error) {
	var out strings.Builder
	if err := letterPages[cmp.Or(l.Language, locale.English)].Execute(&out, l); err != nil {
		return "", fmt.Errorf("write the mail as HTML: %w", err)
	}
	return out.String(), nil
}

// Quote prepares what a person wrote for a mail to another: lines stay, what steers a terminal or turns the direction of the text
// after it goes, and of many blank lines one is left. The text is cut to limit characters.
func Quote(s string, limit int) string {
	var out []string
	for line := range strings.Lines(s) {
		line = strings.TrimRightFunc(strings.Map(func(r rune) rune {
			switch {
			case r == '\t':
				return ' '
			case unicode.IsControl(r), unicode.Is(turning, r):
				return -1
			}
			return r
		}, line), unicode.IsSpace)
		if line != "" || len(out) > 0 && out[len(out)-1] != "" {
			out = append(out, line)
		}
	}
	s = strings.TrimSpace(strings.Join(out, "\n"))
	if utf8.RuneCountInString(s) <= limit {
		return s
	}
	return text.Short(s, limit)
}

// wrapAt is the length in bytes from which a line of plain text is broken at its last space. It is below maxLine and above the length
// of links.
const wrapAt = 700

// wrapped breaks lines that no mail may have.
func wrapped(s string) string {
	var out strings.Builder
	for line := range strings.Lines(s) {
		for len(line) > wrapAt {
			cut := strings.LastIndexByte(line[:wrapAt], ' ')
			if cut <= 0 {
				for cut = wrapAt; !utf8.RuneStart(line[cut]); cut-- {
				}
			}
			out.WriteString(line[:cut] + "\n")
			line = strings.TrimPrefix(line[cut:], " ")
		}
		out.WriteString(line)
	}
	return out.String()
}
