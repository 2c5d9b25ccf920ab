package mail

import (
	"cmp"
	"errors"
	"net/mail"
	"regexp"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	gomail "github.com/wneessen/go-mail"

	"atrium/internal/platform/text"
)

// Limits of a message. SMTP allows lines of 998 bytes.
const (
	maxSubject = 200     // characters
	maxText    = 1 << 16 // bytes, of Text and of HTML
	maxLine    = 900     // bytes
)

// Message is a mail to one person.
type Message struct {
	To      string `json:"to"`           // the address alone, without a name
	Of      string `json:"of,omitempty"` // id of the user or account that it is written to; empty for an address of neither
	Subject string `json:"subject"`
	Text    string `json:"text"`           // lines end in \n; a link is on its own line
	HTML    string `json:"html,omitempty"` // the same content as Text; may be empty

	ReplyTo     string `json:"replyTo,omitempty"`     // the address alone that an answer goes to; empty for the sender
	Thread      string `json:"thread,omitempty"`      // id of what the mails of one thread are about (References); may be empty
	Began       string `json:"began,omitempty"`       // Message-ID of the mail of the reader's that began the thread, without brackets; may be empty
	Note        bool   `json:"note,omitempty"`        // an answer is a note for staff; the References say it by NoteThread
	Unsubscribe string `json:"unsubscribe,omitempty"` // the https URL that unsubscribes by a POST (RFC 8058); may be empty
}

// check returns an error for a message that cannot be sent, or that could inject a header.
func (m *Message) check() error {
	addr, err := mail.ParseAddress(m.To)
	if err != nil || addr.Address != m.To || len(m.To) > text.MaxEmail {
		return errors.New("mail: the recipient is no bare address")
	}
	if m.ReplyTo != "" {
		if addr, err := mail.ParseAddress(m.ReplyTo); err != nil || addr.Address != m.ReplyTo || len(m.ReplyTo) > text.MaxEmail {
			return errors.New("mail: the address for answers is no bare address")
		}
	}
	if m.Subject == "" || len([]rune(m.Subject)) > maxSubject || strings.ContainsFunc(m.Subject, unicode.IsControl) {
		return errors.New("mail: the subject is empty, too long or more than one line")
	}
	if u := m.Unsubscribe; u != "" && (!strings.HasPrefix(u, "https://") || len(u) > maxLine || strings.ContainsFunc(u, func(r rune) bool { return r <= ' ' || r >= 0x7f || r == '<' || r == '>' })) {
		return errors.New("mail: the address to unsubscribe by is no https address")
	}
	if m.Text == "" {
		return errors.New("mail: the text is empty")
	}
	if strings.Trim(m.Thread, "abcdefghijklmnopqrstuvwxyz0123456789_") != "" {
		return errors.New("mail: the thread is no id")
	}
	if m.Began != "" && !IsMessageID(m.Began) {
		return errors.New("mail: what began the thread is no Message-ID")
	}
	for _, body := range []string{m.Text, m.HTML} {
		if len(body) > maxText || strings.ContainsAny(body, "\r\x00") {
			return errors.New("mail: a body is too long or has characters that no mail may have")
		}
	}
	for line := range strings.Lines(m.Text) { // HTML is sent as quoted-printable, whose lines are short
		if len(line) > maxLine {
			return errors.New("mail: a line is too long")
		}
	}
	return nil
}

// messageID matches a Message-ID without its brackets that a header may repeat on one line.
var messageID = regexp.MustCompile(`^[!-;=?-~]{1,120}@[!-;=?-~]{1,120}$`)

// IsMessageID reports whether mails may refer to a message by this id of it.
func IsMessageID(id string) bool { return messageID.MatchString(id) }

// Line turns a text of other people into one short line of a mail to somebody who may not know them, such as an invitation: it
// applies Defuse and then Plain. So the name of a company or a person cannot put a link into such a mail. Members read what
// their colleagues wrote as it was written, by Plain: a title may be a number, a date or a version.
func Line(s string, limit int) string { return Plain(Defuse(s), limit) }

// Plain turns a text into one short line: it replaces white space, control characters and what turns the direction of the text
// after it by single spaces, and cuts the text to limit characters. Everything else stays as it was written, the invisible joiners
// of many scripts included.
func Plain(s string, limit int) string {
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(turning, r)
	}), " ")
	if utf8.RuneCountInString(s) <= limit {
		return s
	}
	return text.Short(s, limit)
}

// turning are the embeddings, overrides and isolates of bidirectional text. Without their end they reach beyond the title.
var turning = &unicode.RangeTable{R16: []unicode.Range16{{Lo: 0x202a, Hi: 0x202e, Stride: 1}, {Lo: 0x2066, Hi: 0x2069, Stride: 1}}}

// envelope is a message with the id and the time that stay the same when it is sent again.
type envelope struct {
	Message
	ID string    `json:"-"` // msg_…
	At time.Time `json:"at"`
}

// compose builds the message. The folder uses 8-bit encoding, so that links in the files are readable; SMTP uses
// quoted-printable.
func (e *envelope) compose(from *mail.Address, encoding gomail.Encoding) (*gomail.Msg, error) {
	m := gomail.NewMsg(gomail.WithNoDefaultUserAgent(), gomail.WithEncoding(encoding))
	m.FromMailAddress(from)
	if err := m.To(e.To); err != nil {
		return nil, errors.New("compose the mail: the recipient's address is refused") // go-mail's error repeats it
	}
	m.Subject(e.Subject)
	m.SetDateWithValue(e.At)
	_, domain, _ := strings.Cut(from.Address, "@")
	m.SetMessageIDWithValue(e.ID + "@" + domain)
	if e.ReplyTo != "" {
		if err := m.ReplyTo(e.ReplyTo); err != nil {
			return nil, errors.New("compose the mail: the address for answers is refused")
		}
	}
	m.SetGenHeader("Auto-Submitted", "auto-generated") // no out-of-office replies
	m.SetGenHeader("X-Auto-Response-Suppress", "All")  // the same for Exchange
	if e.Thread != "" {                                // of a message that was never sent: all mails of the thread answer it
		m.SetGenHeader(gomail.HeaderInReplyTo, "<"+cmp.Or(e.Began, e.Thread+"@"+domain)+">")
		m.SetGenHeader(gomail.HeaderReferences, e.references(domain))
	}
	if e.Unsubscribe != "" {
		m.SetGenHeader("List-Unsubscribe", "<"+e.Unsubscribe+">")
		m.SetGenHeader("List-Unsubscribe-Post", "List-Unsubscribe=One-Click")
	}
	m.SetBodyString(gomail.TypeTextPlain, crlf(e.Text))
	if e.HTML != "" {
		m.AddAlternativeString(gomail.TypeTextHTML, crlf(e.HTML))
	}
	return m, nil
}

// NoteThread follows the id of the thread in the References of a mail whose answer is a note for staff.
const NoteThread = ".note"

// references returns the ids of the messages that a mail of a thread refers to: the one that began it, and others, which were never sent.
func (e *envelope) references(domain string) string {
	refs := "<" + e.Thread + "@" + domain + ">"
	if e.Began != "" {
		refs = "<" + e.Began + "> " + refs
	}
	if e.Note {
		refs += " <" + e.Thread + NoteThread + "@" + domain + ">"
	}
	return refs
}

func crlf(text string) string { return strings.ReplaceAll(text, "\n", "\r\n") }
