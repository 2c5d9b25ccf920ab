package main_test

import (
	"bytes"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net"
	"net/mail"
	"net/smtp"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"text/template"
	"time"

	"github.com/stretchr/testify/require"
)

// mailHost is the mail server of demo.example, in a folder of its own on free ports: Exim, which passes mail on, and Dovecot, which keeps
// it. Nothing of the system's configuration is read.
type mailHost struct {
	t   testing.TB
	Dir string

	User, Group string // whom it runs as: whoever runs the test, or nobody in place of root
	UID, GID    string

	SMTP, LMTP, IMAPS string // ports
	Desk              string // port of the product's listener
}

// startMailHost starts the servers, which forward what is for the product to an address. Whoever is away is answered for by Dovecot.
func startMailHost(t testing.TB, desk string, away ...string) *mailHost {
	t.Helper()
	dir, err := os.MkdirTemp("", "mail") // short: it has sockets, whose paths are limited
	require.NoError(t, err)
	port := func(address string) string {
		_, port, err := net.SplitHostPort(address)
		require.NoError(t, err)
		return port
	}
	m := &mailHost{t: t, Dir: dir, SMTP: port(freeAddress(t)), LMTP: port(freeAddress(t)), IMAPS: port(freeAddress(t)), Desk: port(desk)}
	t.Cleanup(func() {
		require.Eventually(t, func() bool { return os.RemoveAll(dir) == nil }, patience, 50*time.Millisecond) // an Exim may end its delivery
	})
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(m.logs())
		}
	})
	require.NoError(t, os.Chmod(dir, 0o755))
	for _, sub := range []string{"exim", "run", "mail"} {
		require.NoError(t, os.Mkdir(filepath.Join(dir, sub), 0o755))
	}
	for _, name := range away {
		require.NoError(t, os.Mkdir(filepath.Join(dir, "mail", name), 0o755))
		script := fmt.Sprintf("require \"vacation\";\nvacation :days 1 :addresses %q \"%s is away.\";\n", name+"@demo.example", name)
		require.NoError(t, os.WriteFile(filepath.Join(dir, "mail", name, "vacation.sieve"), []byte(script), 0o644))
	}
	writePair(t, filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem"), 1)
	m.run()
	return m
}

// run writes the configurations and starts the servers.
func (m *mailHost) run() {
	m.t.Helper()
	who, err := user.Current()
	if os.Getuid() == 0 {
		who, err = user.Lookup("nobody")
	}
	require.NoError(m.t, err)
	group, err := user.LookupGroupId(who.Gid)
	require.NoError(m.t, err)
	m.User, m.Group, m.UID, m.GID = who.Username, group.Name, who.Uid, who.Gid
	for _, name := range []string{"exim.conf", "dovecot.conf"} {
		var text bytes.Buffer
		require.NoError(m.t, template.Must(template.ParseFiles(filepath.Join("testdata/mail", name))).Execute(&text, m))
		require.NoError(m.t, os.WriteFile(filepath.Join(m.Dir, name), text.Bytes(), 0o644))
	}
	if os.Getuid() == 0 {
		require.NoError(m.t, filepath.WalkDir(m.Dir, func(path string, _ os.DirEntry, err error) error {
			if err != nil {
				return err
			}
			return os.Chown(path, atoi(m.t, m.UID), atoi(m.t, m.GID))
		}))
	}
	m.start(m.command("/usr/sbin/dovecot", "-F", "-c", filepath.Join(m.Dir, "dovecot.conf")), m.LMTP, m.IMAPS)
	m.start(m.exim("-bdf", "-q2s"), m.SMTP)
}

// command returns a command of the servers' user.
func (m *mailHost) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = m.Dir, []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin"}
	if os.Getuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(atoi(m.t, m.UID)), Gid: uint32(atoi(m.t, m.GID))}}
	}
	return cmd
}

func (m *mailHost) exim(args ...string) *exec.Cmd {
	return m.command("/usr/sbin/exim4", append([]string{"-C", filepath.Join(m.Dir, "exim.conf")}, args...)...)
}

// start starts a server, waits until it listens, and stops it at the end of the test.
func (m *mailHost) start(cmd *exec.Cmd, ports ...string) {
	m.t.Helper()
	said := newOutput()
	cmd.Stdout, cmd.Stderr = said, said
	require.NoError(m.t, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	m.t.Cleanup(func() {
		if m.t.Failed() {
			m.t.Log(said)
		}
		_ = cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-ended:
		case <-time.After(patience):
			_ = cmd.Process.Kill()
			<-ended
		}
	})
	for _, port := range ports {
		require.Eventually(m.t, func() bool {
			c, err := net.Dial("tcp", "127.0.0.1:"+port)
			return err == nil && c.Close() == nil
		}, patience, 50*time.Millisecond, "%v does not listen", cmd.Args)
	}
}

// logs returns what the servers have logged.
func (m *mailHost) logs() string {
	out := ""
	for _, name := range []string{"dovecot.log", "exim/mainlog", "exim/paniclog", "exim/rejectlog"} {
		text, _ := os.ReadFile(filepath.Join(m.Dir, name)) // there may be none
		out += name + ":\n" + string(text)
	}
	return out
}

// flags make the product a part of demo.example: its listener takes what is forwarded, and its mails go out by Exim.
func (m *mailHost) flags(more ...string) []string {
	return append([]string{
		"--smtp-listen", "127.0.0.1:" + m.Desk, "--mail-domain", "mail.demo.example", "--mail-return", "--egress-allow", "127.0.0.0/8", "--egress-ca", filepath.Join(m.Dir, "cert.pem"),
		"--smtp-url", "smtp://127.0.0.1:" + m.SMTP + "?tls=none", "--mail-from", "The desk <no-reply@mail.demo.example>",
	}, more...)
}

// submit has somebody of demo.example send a message, signed in.
func (m *mailHost) submit(who, from, to, message string) {
	m.t.Helper()
	auth := smtp.PlainAuth("", who+"@demo.example", "secret", "127.0.0.1")
	require.NoError(m.t, smtp.SendMail("127.0.0.1:"+m.SMTP, auth, from, []string{to}, []byte(message)))
}

// queued returns how many messages Exim has yet to pass on, after another try.
func (m *mailHost) queued() int {
	m.t.Helper()
	require.NoError(m.t, m.exim("-qff").Run())
	count, err := m.exim("-bpc").Output()
	require.NoError(m.t, err)
	return atoi(m.t, strings.TrimSpace(string(count)))
}

// letter is a mail in somebody's Maildir.
type letter struct {
	*mail.Message
	raw         []byte
	plain, html string
}

// letters returns the mails of somebody, in no order.
func (m *mailHost) letters(who string) []letter {
	m.t.Helper()
	var out []letter
	names, err := filepath.Glob(filepath.Join(m.Dir, "mail", who, "Maildir", "*", "*,S=*"))
	require.NoError(m.t, err)
	for _, name := range names {
		raw, err := os.ReadFile(name)
		require.NoError(m.t, err)
		message, err := mail.ReadMessage(bytes.NewReader(raw))
		require.NoError(m.t, err)
		l := letter{Message: message, raw: raw}
		l.read(m.t)
		out = append(out, l)
	}
	return out
}

// read reads both texts of a letter.
func (l *letter) read(t testing.TB) {
	t.Helper()
	kind, params, err := mime.ParseMediaType(l.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/alternative" {
		body, err := io.ReadAll(l.Body)
		require.NoError(t, err)
		l.plain = string(body)
		return
	}
	parts := multipart.NewReader(l.Body, params["boundary"])
	for _, text := range []*string{&l.plain, &l.html} {
		part, err := parts.NextPart() // which decodes quoted-printable
		require.NoError(t, err)
		body, err := io.ReadAll(part)
		require.NoError(t, err)
		*text = strings.ReplaceAll(string(body), "\r\n", "\n")
	}
}

// arrived waits for the mail to somebody whose text has these words.
func (m *mailHost) arrived(who, words string) letter {
	m.t.Helper()
	var found letter
	require.Eventually(m.t, func() bool {
		for _, l := range m.letters(who) {
			if strings.Contains(l.plain, words) {
				found = l
				return true
			}
		}
		return false
	}, patience, 100*time.Millisecond, "no mail to %s that says %q", who, words)
	return found
}

func atoi(t testing.TB, s string) int {
	t.Helper()
	n, err := strconv.Atoi(s)
	require.NoError(t, err)
	return n
}
