package mail

import (
	"net/mail"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	gomail "github.com/wneessen/go-mail"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A recipient or a subject cannot inject a header, and a mail stays within the limits of servers.
func TestMessageIsChecked(t *testing.T) {
	t.Parallel()
	good := Message{To: "ada@x.test", Subject: "Grüße", Text: "Hello\nhttps://x.test/?token=abc\n"}
	require.NoError(t, good.check())
	for name, spoil := range map[string]func(*Message){
		"no recipient":        func(m *Message) { m.To = "" },
		"two recipients":      func(m *Message) { m.To = "ada@x.test, eve@x.test" },
		"a name":              func(m *Message) { m.To = "Ada <ada@x.test>" },
		"a header by address": func(m *Message) { m.To = "ada@x.test\r\nBcc: eve@x.test" },
		"a quoted line end":   func(m *Message) { m.To = "\"a\nb\"@x.test" },
		"a long address":      func(m *Message) { m.To = strings.Repeat("a", 260) + "@x.test" },
		"a name for answers":  func(m *Message) { m.ReplyTo = "Help <help@x.test>" },
		"a header by answers": func(m *Message) { m.ReplyTo = "help@x.test\r\nBcc: eve@x.test" },
		"no subject":          func(m *Message) { m.Subject = "" },
		"a header by subject": func(m *Message) { m.Subject = "Hello\r\nBcc: eve@x.test" },
		"a lone line feed":    func(m *Message) { m.Subject = "Hello\nBcc: eve@x.test" },
		"a long subject":      func(m *Message) { m.Subject = strings.Repeat("ä", 201) },
		"no text":             func(m *Message) { m.Text = "" },
		"a carriage return":   func(m *Message) { m.Text = "Hello\r.\rMAIL FROM:<eve@x.test>" },
		"no Message-ID":       func(m *Message) { m.Began = "1@x>\r\nBcc: <eve@x.test" },
		"a long Message-ID":   func(m *Message) { m.Began = strings.Repeat("a", 200) + "@x.test" },
		"a NUL":               func(m *Message) { m.HTML = "\x00" },
		"a line of 901 bytes": func(m *Message) { m.Text = strings.Repeat("a", 901) },
		"more than a mail":    func(m *Message) { m.Text = strings.Repeat("0123456789\n", 6000) },
	} {
		m := good
		spoil(&m)
		require.Error(t, m.check(), name)
	}
}

// All mails of a thread refer to a message that was never sent; those to whoever began it by mail answer that mail, which their program has. A mail
// whose answer is a note refers to the thread's notes as well.
func TestThreads(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		m          Message
		reply, all string
	}{
		"filed here":    {Message{}, "<req_1@desk.test>", "<req_1@desk.test>"},
		"filed by mail": {Message{Began: "CAF=1@mail.example"}, "<CAF=1@mail.example>", "<CAF=1@mail.example> <req_1@desk.test>"},
		"a note":        {Message{Note: true}, "<req_1@desk.test>", "<req_1@desk.test> <req_1.note@desk.test>"},
		"both":          {Message{Note: true, Began: "1@x"}, "<1@x>", "<1@x> <req_1@desk.test> <req_1.note@desk.test>"},
	} {
		e := envelope{ID: "msg_1", At: time.Now(), Message: tc.m}
		e.To, e.Subject, e.Text, e.Thread = "ada@x.test", "Hello", "Hello\n", "req_1"
		require.NoError(t, e.check(), name)
		m, err := e.compose(&mail.Address{Address: "no-reply@desk.test"}, gomail.EncodingQP)
		require.NoError(t, err, name)
		require.Equal(t, []string{tc.reply}, m.GetGenHeader(gomail.HeaderInReplyTo), name)
		require.Equal(t, []string{tc.all}, m.GetGenHeader(gomail.HeaderReferences), name)
	}
}

func TestLine(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"Acme":                                  "Acme",
		"  Acme \t & \r\n Co\u2028":             "Acme & Co",
		"Acme\r\nBcc: eve@x.test":               "Acme Bcc:…",
		"right\u202eleft":                       "right left",
		"ten characters":                        "ten chara…",
		"äöüäöüäöüä":                            "äöüäöüäöüä",
		"\x00\x1b[31m":                          "31m",
		strings.Repeat("x", 5000):               "xxxxxxxxx…",
		" \n ":                                  "",
		"https://evil.test/ pays you a million": "https: ev…",
	} {
		require.Equal(t, want, Line(in, 10), "%q", in)
	}
}

// Titles arrive as they were written: numbers, dates, versions, addresses and the joiners of Persian and of emoji.
func TestPlain(t *testing.T) {
	t.Parallel()
	for _, same := range []string{
		"Order 20261127001", "Frozen from 2026-11-27", "Upgrade to 2.14.1", "Call +1 (555) 123-4567", "www.example.com is down", "mail for ada@example.com",
		"<b>[x](y)</b> | *a*", "می\u200cخواهم", "👩\u200d💻 at work", "ﬁ ½ ①",
	} {
		require.Equal(t, same, Plain(same, 100))
	}
	for in, want := range map[string]string{
		"Laptop\r\nBcc: x@x.test": "Laptop Bcc: x@x.test", "a\u2028b\x00c\u0085d": "a b c d", "right\u202eleft\u2066": "right left", "a title of more than twenty": "a title of more tha…",
	} {
		require.Equal(t, want, Plain(in, 20), "%q", in)
	}
}

func TestOpen(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]Options{
		"nothing":                     {},
		"no sender's address":         {URL: "smtp://mail.test"},
		"a bad sender's address":      {URL: "smtp://mail.test", From: "Atrium"},
		"another scheme":              {URL: "http://mail.test", From: "a@x.test"},
		"no host":                     {URL: "smtp://:25", From: "a@x.test"},
		"a bad port":                  {URL: "smtp://mail.test:70000", From: "a@x.test"},
		"a path":                      {URL: "smtp://mail.test/inbox", From: "a@x.test"},
		"an unknown parameter":        {URL: "smtp://mail.test?verify=no", From: "a@x.test"},
		"an unknown mode":             {URL: "smtp://mail.test?tls=maybe", From: "a@x.test"},
		"clear from the start":        {URL: "smtps://mail.test?tls=none", From: "a@x.test"},
		"a password in the clear":     {URL: "smtp://ada:hunter2@mail.test?tls=none", From: "a@x.test"},
		"a password that breaks URLs": {URL: "smtp://ada:hunter2%@mail.test", From: "a@x.test"},
	} {
		_, err := Open(o)
		require.Error(t, err, name)
		require.NotContains(t, err.Error(), "hunter2", name)
	}
	for url, want := range map[string]string{
		"smtp://mail.test":                         "SMTP server mail.test:587",
		"smtp://ada:p%40ss@mail.test:2525":         "SMTP server mail.test:2525",
		"smtps://ada:hunter2@[2001:db8::1]":        "SMTP server [2001:db8::1]:465",
		"smtp://ada:hunter2@localhost:25?tls=none": "SMTP server localhost:25",
	} {
		s, err := Open(Options{URL: url, From: "Atrium <a@x.test>"})
		require.NoError(t, err, url)
		require.Equal(t, want, s.(*server).String())
	}
}
