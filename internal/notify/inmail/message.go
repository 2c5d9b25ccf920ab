package inmail

import (
	"strings"
	"time"

	"atrium/internal/platform/locale"
)

// Bounds of a mail. What exceeds one of the first four is refused by Parse with a LimitError.
const (
	MaxSize   = 25 << 20 // bytes, as the mail travels
	MaxHeader = 64 << 10 // bytes of a header, of the mail or of one of its parts
	MaxParts  = 200
	MaxDepth  = 20      // multiparts within multiparts
	MaxText   = 1 << 20 // bytes; a longer text is an attachment
)

// Message is what a mail says. All of its strings are valid UTF-8 without control characters, but for line ends (\n) and tabs in
// texts. Addresses are as they were written: no case is folded.
type Message struct {
	ID         string   // the Message-ID without angle brackets; empty if the mail has none, or more than one
	InReplyTo  []string // ids of messages, likewise
	References []string // the oldest first; of more than 100 the first and the last 99

	From        Address // the zero value unless the mail names exactly one author in exactly one From
	To, Cc      []Address
	DeliveredTo []string // the addresses of Delivered-To and X-Original-To: whom the mail was for, where no envelope says it
	ReturnPath  string   // the envelope's sender that the topmost Return-Path names, or Options

	Subject string // without prefixes such as Re: and WG:
	Reply   bool   // the first prefix is one of replies
	Forward bool   // somebody passes another mail on, as the first prefix or a line of the text says
	Date    time.Time

	// Text is what its author wrote, without quotations, signature and what mail programs add. A quotation between two answers stays,
	// because the answers need it. Quoted is everything else, and Whole is all of it in its order. A mail that is passed on
	// is text from end to end. All three are empty if the mail has no text.
	Text, Quoted, Whole string

	Automatic   Automatic // why the mail counts as sent by a machine; empty for a person's
	Bounce      *Bounce   // of a report that a mail could not be delivered
	Attachments []Attachment
	Notes       []Note // what readers must know about how the mail was read; each at most once
}

// Address is a mailbox with the name that stands beside it.
type Address struct{ Name, Email string }

// Attachment is a part of a mail that is no text to be shown: a file, an invitation, a signature.
type Attachment struct {
	Name      string // without a path, at most 200 bytes; made of the type if the mail gives none
	MediaType string // as the mail declares it, lower case: not to be believed
	Content   []byte // without the transfer encoding; it may be a part of the raw mail's memory
	ContentID string // without angle brackets, of a part that the HTML shows by cid:
	Inline    bool   // meant to be shown in the text
}

// Bounce is a report of non-delivery (RFC 3464). Anybody can write one: whoever acts on it compares MessageID with the mails that
// were sent to the recipient.
type Bounce struct {
	MessageID string // of the mail that came back; empty if the report does not say
	Failed    []Failed
}

// Failed is a recipient whom a mail did not reach.
type Failed struct {
	Email     string
	Permanent bool   // a later attempt would fail as well
	Status    string // such as 5.1.1 (RFC 3463); may be empty
	Says      string // what the server answered, at most 500 bytes; may be empty
}

// Note is something about how a mail was read.
type Note string

// The notes.
const (
	NoteCharset   Note = "charset"    // U+FFFD stands for bytes that are no text in their charset; the part is an attachment too
	NoteEncoding  Note = "encoding"   // a fault in base64 or quoted-printable, or an unknown transfer encoding
	NoteHeader    Note = "header"     // lines of a header that are no fields were left out
	NoteControl   Note = "control"    // control characters were left out
	NoteUnclosed  Note = "unclosed"   // a multipart without its end: the mail may be incomplete
	NoteLong      Note = "long"       // the text exceeds MaxText and is an attachment
	NoteEncrypted Note = "encrypted"  // the content can only be read by those whom it was encrypted for; it is an attachment
	NoteSigned    Note = "signed"     // signed by S/MIME or PGP; the signature was not checked
	NoteTNEF      Note = "tnef"       // winmail.dat: Outlook's own format, kept as it is
	NoteNoFrom    Note = "no_from"    // no author, or none that is an address
	NoteManyFroms Note = "many_froms" // more than one author
)

// Text returns what the note says to staff.
func (n Note) Text() locale.Text {
	switch n {
	case NoteCharset:
		return locale.Say("Some characters could not be read.")
	case NoteEncoding:
		return locale.Say("The message was damaged on its way. Some of it may be missing.")
	case NoteHeader:
		return locale.Say("Lines of the header could not be read.")
	case NoteControl:
		return locale.Say("Invisible control characters were removed.")
	case NoteUnclosed:
		return locale.Say("The message ends too early. Some of it may be missing.")
	case NoteLong:
		return locale.Say("The text is longer than 1 MB and is attached as a file.")
	case NoteEncrypted:
		return locale.Say("The message is encrypted and cannot be read here. The encrypted message is attached.")
	case NoteSigned:
		return locale.Say("The message is signed. The signature is attached and was not checked.")
	case NoteTNEF:
		return locale.Say("The sender's Outlook packed files into winmail.dat, which is attached.")
	case NoteNoFrom:
		return locale.Say("The message names no sender.")
	case NoteManyFroms:
		return locale.Say("The message names several senders.")
	}
	return locale.Text{}
}

// LimitError is the error of a mail that exceeds a bound.
type LimitError struct{ Limit Limit }

// Limit names a bound.
type Limit string

// The limits.
const (
	LimitSize   Limit = "size"
	LimitHeader Limit = "header"
	LimitParts  Limit = "parts"
	LimitDepth  Limit = "depth"
)

func (e *LimitError) Error() string {
	return "inmail: " + map[Limit]string{
		LimitSize: "larger than 25 MB", LimitHeader: "a header longer than 64 KB", LimitParts: "more than 200 parts",
		LimitDepth: "parts nested more than 20 deep",
	}[e.Limit]
}

// Text returns what the error says to staff.
func (e *LimitError) Text() locale.Text {
	switch e.Limit {
	case LimitSize:
		return locale.Say("The message is larger than 25 MB.")
	case LimitHeader:
		return locale.Say("The header of the message is longer than 64 KB.")
	case LimitParts:
		return locale.Say("The message has more than 200 parts.")
	case LimitDepth:
		return locale.Say("The parts of the message are nested more than 20 deep.")
	}
	return locale.Text{}
}

// Options are what the mail itself does not say.
type Options struct {
	// Markers are the lines above which our mails ask people to answer, one for each language. What stands below is a quotation.
	Markers []string
	// Sender is the envelope's sender (MAIL FROM, empty for the null sender) where it is known. It counts instead of Return-Path.
	Sender *string
	// OwnWords puts everything that another mail said into Quoted: also between two answers, and of a mail that is passed on.
	OwnWords bool
}

// Parse reads a mail. It takes time and memory in proportion to its size. Whatever is wrong with a mail, something comes out,
// with notes; only a mail that exceeds a bound is an error (*LimitError), and then the message has at least what the header says,
// unless that is too long itself.
func Parse(raw []byte, o Options) (*Message, error) {
	m := &Message{}
	if len(raw) > MaxSize {
		head, _, err := splitHeader(raw[:MaxHeader+4])
		if err == nil {
			m.readHeader(head, o, m.note)
		}
		return m, &LimitError{LimitSize}
	}
	head, body, err := splitHeader(raw)
	if err != nil {
		return m, err
	}
	fields := m.readHeader(head, o, m.note)
	w := &walker{message: m, rest: body}
	found, err := w.entity(fields, 0)
	if err != nil {
		m.Attachments = nil
		return m, err
	}
	m.Automatic = automatic(fields, m)
	m.divide(found.lines, o)
	return m, nil
}

// note records a note once.
func (m *Message) note(n Note) {
	for _, has := range m.Notes {
		if has == n {
			return
		}
	}
	m.Notes = append(m.Notes, n)
}

// Recipients returns the addresses that the mail was for, as far as its header says: of To, Cc and Delivered-To, lower case, each once.
func (m *Message) Recipients() []string {
	var out []string
	seen := map[string]bool{}
	add := func(email string) {
		if email = strings.ToLower(email); !seen[email] {
			seen[email] = true
			out = append(out, email)
		}
	}
	for _, email := range m.DeliveredTo {
		add(email)
	}
	for _, list := range [][]Address{m.To, m.Cc} {
		for _, a := range list {
			add(a.Email)
		}
	}
	return out
}
