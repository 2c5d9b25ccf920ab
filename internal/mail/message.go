package mail

import (
	"errors"
	"fmt"
	"net/mail"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	gomail "github.com/wneessen/go-mail"

	"atrium/internal/text"
)

// Bounds of a message. SMTP allows lines of 998 bytes.
const (
	maxAddress = 254     // bytes
	maxSubject = 200     // characters
	maxText    = 1 << 16 // bytes, of Text and of HTML
	maxLine    = 900     // bytes
)

// Message is a mail to one person.
type Message struct {
	To      string `json:"to"` // the bare address
	Subject string `json:"subject"`
	Text    string `json:"text"`           // lines end in \n; a link stands on a line of its own
	HTML    string `json:"html,omitempty"` // the same for who prefers it; may be empty
}

// check returns an error for a message that could not be sent, or that would be read as more than one header.
func (m *Message) check() error {
	addr, err := mail.ParseAddress(m.To)
	if err != nil || addr.Address != m.To || len(m.To) > maxAddress {
		return errors.New("mail: the recipient is no bare address")
	}
	if m.Subject == "" || len([]rune(m.Subject)) > maxSubject || strings.ContainsFunc(m.Subject, unicode.IsControl) {
		return errors.New("mail: the subject is empty, too long or more than one line")
	}
	if m.Text == "" {
		return errors.New("mail: the text is empty")
	}
	for _, body := range []string{m.Text, m.HTML} {
		if len(body) > maxText || strings.ContainsAny(body, "\r\x00") {
			return errors.New("mail: a body is too long or has characters that no mail may have")
		}
		for line := range strings.Lines(body) {
			if len(line) > maxLine {
				return errors.New("mail: a line is too long")
			}
		}
	}
	return nil
}

// Line makes one short line of a text that somebody else wrote, for a subject or a sentence: Plain, without what mail programs
// make links of. Who names a company or a person decides on no link in a mail of ours.
func Line(s string, limit int) string { return Plain(Defuse(s), limit) }

// Plain makes one short line of a text: blanks and control characters become single spaces, and what is longer than limit
// characters is cut. Addresses stay what they are.
func Plain(s string, limit int) string {
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r)
	}), " ")
	if utf8.RuneCountInString(s) <= limit {
		return s
	}
	return text.Short(s, limit-1)
}

// envelope is a message with what makes it the same one when it is sent again.
type envelope struct {
	Message
	ID string    `json:"-"` // msg_…
	At time.Time `json:"at"`
}

// compose writes the message for the wire. In files, a link must be readable as it is, so they take 8 bits; servers need
// not.
func (e *envelope) compose(from *mail.Address, encoding gomail.Encoding) (*gomail.Msg, error) {
	m := gomail.NewMsg(gomail.WithNoDefaultUserAgent(), gomail.WithEncoding(encoding))
	m.FromMailAddress(from)
	if err := m.To(e.To); err != nil {
		return nil, fmt.Errorf("compose the mail: %w", err)
	}
	m.Subject(e.Subject)
	m.SetDateWithValue(e.At)
	_, domain, _ := strings.Cut(from.Address, "@")
	m.SetMessageIDWithValue(e.ID + "@" + domain)
	m.SetGenHeader("Auto-Submitted", "auto-generated") // no out-of-office replies
	m.SetBodyString(gomail.TypeTextPlain, crlf(e.Text))
	if e.HTML != "" {
		m.AddAlternativeString(gomail.TypeTextHTML, crlf(e.HTML))
	}
	return m, nil
}

func crlf(text string) string { return strings.ReplaceAll(text, "\n", "\r\n") }
