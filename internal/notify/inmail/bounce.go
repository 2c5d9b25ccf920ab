package inmail

import "strings"

// maxFailed is how many recipients of a report are read.
const maxFailed = 100

// readStatus reads the part of a report that says whom the mail did not reach (RFC 3464): groups of fields, the first one for the mail
// as a whole. Delays and successes are no failures.
func (m *Message) readStatus(raw []byte) {
	b := m.bounce()
	for len(raw) > 0 && len(b.Failed) < maxFailed {
		head, rest, err := splitHeader(raw)
		if err != nil {
			m.note(NoteHeader)
			return
		}
		raw = rest
		f := readFields(head, func() {})
		if !strings.EqualFold(f.get("action"), "failed") {
			continue
		}
		email := typed(f.get("final-recipient"))
		if original := typed(f.get("original-recipient")); original != "" {
			email = original
		}
		status, _, _ := strings.Cut(f.get("status"), " ")
		b.Failed = append(b.Failed, Failed{
			Email: short(clean(email, m.note), maxEmail), Status: short(clean(status, m.note), 20),
			Permanent: !strings.HasPrefix(status, "4"),
			Says:      short(clean(typed(f.get("diagnostic-code")), m.note), 500),
		})
	}
}

// readReturned reads the header of the mail that came back.
func (m *Message) readReturned(raw []byte) {
	head, _, err := splitHeader(raw)
	if err != nil {
		m.note(NoteHeader)
		return
	}
	if ids := messageIDs(readFields(head, func() {})["message-id"]); len(ids) == 1 {
		m.bounce().MessageID = ids[0]
	}
}

func (m *Message) bounce() *Bounce {
	if m.Bounce == nil {
		m.Bounce = &Bounce{}
	}
	return m.Bounce
}

// typed returns the value of a field such as: rfc822; ada@x.test
func typed(value string) string {
	kind, v, ok := strings.Cut(value, ";")
	if !ok {
		v = kind
	}
	return strings.Trim(strings.TrimSpace(v), "<>")
}
