package imap

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	goimap "github.com/emersion/go-imap/v2"
	"github.com/emersion/go-imap/v2/imapserver"
	"github.com/emersion/go-imap/v2/imapserver/imapmemserver"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"atrium/internal/notify/inmail"
	"atrium/internal/platform/egress"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// certificate is one that the clients of the tests trust.
func certificate() (tls.Certificate, *x509.CertPool) {
	web := httptest.NewTLSServer(nil)
	defer web.Close()
	pool := x509.NewCertPool()
	pool.AddCert(web.Certificate())
	return web.TLS.Certificates[0], pool
}

// open starts a server with one user and returns the account, and the user whose folders the test fills.
func open(t *testing.T) (Account, *imapmemserver.User) {
	t.Helper()
	cert, pool := certificate()
	user := imapmemserver.NewUser("help", "hunter2")
	require.NoError(t, user.Create("INBOX", nil))
	memory := imapmemserver.New()
	memory.AddUser(user)
	server := imapserver.New(&imapserver.Options{
		NewSession: func(*imapserver.Conn) (imapserver.Session, *imapserver.GreetingData, error) {
			return memory.NewSession(), nil, nil
		},
		Logger: log.New(io.Discard, "", 0), InsecureAuth: true,
	})
	ln, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{cert}})
	require.NoError(t, err)
	done := make(chan error, 1)
	go func() { done <- server.Serve(ln) }()
	t.Cleanup(func() {
		require.NoError(t, server.Close())
		<-done
	})
	return account(ln.Addr().String(), pool), user
}

func account(address string, pool *x509.CertPool) Account {
	return Account{
		Address: address, User: "help", Password: "hunter2", Folder: "INBOX", Dial: (&net.Dialer{}).DialContext,
		TLS: &tls.Config{RootCAs: pool, ServerName: "example.com"},
	}
}

func put(t *testing.T, user *imapmemserver.User, text string, flags ...goimap.Flag) {
	t.Helper()
	_, err := user.Append("INBOX", &literal{strings.NewReader(text)}, &goimap.AppendOptions{Flags: flags})
	require.NoError(t, err)
}

type literal struct{ *strings.Reader }

// unseen returns how many mails are not marked.
func unseen(t *testing.T, user *imapmemserver.User) int {
	t.Helper()
	status, err := user.Status("INBOX", &goimap.StatusOptions{NumUnseen: true})
	require.NoError(t, err)
	return int(*status.NumUnseen)
}

// Each mail comes once, the oldest first, and is seen afterwards. What was seen before the first call is not fetched; what somebody looks
// at between two calls is.
func TestFetch(t *testing.T) {
	t.Parallel()
	a, user := open(t)
	put(t, user, "Subject: old\r\n\r\n", goimap.FlagSeen)
	put(t, user, "Subject: one\r\n\r\nGrüße\r\n")
	put(t, user, "Subject: two\r\n\r\n")
	var got []string
	var last Cursor
	keep := func(_ context.Context, m Mail) error {
		got, last = append(got, string(m.Raw)), m.Cursor
		require.Equal(t, int64(len(m.Raw)), m.Size)
		return nil
	}
	more, err := a.Fetch(t.Context(), Cursor{}, keep)
	require.NoError(t, err)
	require.False(t, more)
	require.Equal(t, []string{"Subject: one\r\n\r\nGrüße\r\n", "Subject: two\r\n\r\n"}, got)
	require.Zero(t, unseen(t, user))

	put(t, user, "Subject: read by somebody\r\n\r\n", goimap.FlagSeen)
	got = nil
	for range 2 {
		_, err = a.Fetch(t.Context(), last, keep)
		require.NoError(t, err)
		require.Equal(t, []string{"Subject: read by somebody\r\n\r\n"}, got)
	}
	got = nil // the folder was made anew: its numbers mean other mails
	put(t, user, "Subject: new\r\n\r\n")
	_, err = a.Fetch(t.Context(), Cursor{Validity: last.Validity + 1, UID: 1000}, keep)
	require.NoError(t, err)
	require.Equal(t, []string{"Subject: new\r\n\r\n"}, got)
}

// What could not be kept is not marked, comes again, and nothing behind it comes first.
func TestNotKept(t *testing.T) {
	t.Parallel()
	a, user := open(t)
	put(t, user, "Subject: one\r\n\r\n")
	put(t, user, "Subject: two\r\n\r\n")
	full := errors.New("disk full")
	calls := 0
	more, err := a.Fetch(t.Context(), Cursor{}, func(context.Context, Mail) error { calls++; return full })
	require.ErrorIs(t, err, full)
	require.True(t, more)
	require.Equal(t, 1, calls)
	require.Equal(t, 2, unseen(t, user))
}

// A call fetches 50 mails, and says that there are more.
func TestMany(t *testing.T) {
	t.Parallel()
	a, user := open(t)
	for i := range 60 {
		put(t, user, fmt.Sprintf("Subject: %d\r\n\r\n", i))
	}
	var last Cursor
	n := 0
	keep := func(_ context.Context, m Mail) error {
		require.Equal(t, fmt.Sprintf("Subject: %d\r\n\r\n", n), string(m.Raw))
		n, last = n+1, m.Cursor
		return nil
	}
	more, err := a.Fetch(t.Context(), Cursor{}, keep)
	require.NoError(t, err)
	require.True(t, more)
	require.Equal(t, 50, n)
	more, err = a.Fetch(t.Context(), last, keep)
	require.NoError(t, err)
	require.False(t, more)
	require.Equal(t, 60, n)
}

// A mail that is too large is passed on without its content.
func TestTooLarge(t *testing.T) {
	t.Parallel()
	a, user := open(t)
	put(t, user, strings.Repeat("x", inmail.MaxSize+1))
	put(t, user, "Subject: small\r\n\r\n")
	var got []Mail
	_, err := a.Fetch(t.Context(), Cursor{}, func(_ context.Context, m Mail) error { got = append(got, m); return nil })
	require.NoError(t, err)
	require.Len(t, got, 2)
	require.Nil(t, got[0].Raw)
	require.Equal(t, int64(inmail.MaxSize+1), got[0].Size)
	require.NotNil(t, got[1].Raw)
	require.Zero(t, unseen(t, user))
}

// What is wrong is told, without the password and without words of the server.
func TestRefused(t *testing.T) {
	t.Parallel()
	a, _ := open(t)
	keep := func(context.Context, Mail) error { t.Error("there is no mail"); return nil }
	wrong := a
	wrong.Password = "swordfish"
	_, err := wrong.Fetch(t.Context(), Cursor{}, keep)
	require.ErrorIs(t, err, ErrLogin)
	require.NotContains(t, err.Error(), "swordfish")
	elsewhere := a
	elsewhere.Folder = "Other"
	_, err = elsewhere.Fetch(t.Context(), Cursor{}, keep)
	require.ErrorContains(t, err, "select: answered with NO")
	unknown := a
	unknown.TLS = nil
	_, err = unknown.Fetch(t.Context(), Cursor{}, keep)
	require.ErrorContains(t, err, "TLS")
	guarded := a
	guarded.Dial = egress.NewGuard(nil).DialContext
	_, err = guarded.Fetch(t.Context(), Cursor{}, keep)
	require.ErrorContains(t, err, "egress: refused", "the server is on this machine")
	guarded.Dial = egress.NewGuard([]netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}).DialContext
	_, err = guarded.Fetch(t.Context(), Cursor{}, keep)
	require.NoError(t, err, "unless the operator allows it")
}

// hostile is a server that answers by the tag of a command as the test says.
func hostile(t *testing.T, answer func(command string) string) Account {
	t.Helper()
	cert, pool := certificate()
	ln, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{cert}})
	require.NoError(t, err)
	done := make(chan struct{})
	go func() {
		defer close(done)
		conn, err := ln.Accept()
		if err != nil {
			return
		}
		defer conn.Close() //nolint:errcheck // the test's own
		_, _ = io.WriteString(conn, answer(""))
		lines := bufio.NewScanner(conn)
		for lines.Scan() {
			tag, command, _ := strings.Cut(lines.Text(), " ")
			if _, err := io.WriteString(conn, strings.ReplaceAll(answer(command), "@", tag)); err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		_ = ln.Close()
		<-done
	})
	return account(ln.Addr().String(), pool)
}

// usual answers as a server with one mail.
func usual(command string) string {
	switch {
	case command == "":
		return "* OK [CAPABILITY IMAP4rev1] hello\r\n"
	case strings.HasPrefix(command, "SELECT"):
		return "* 1 EXISTS\r\n* OK [UIDVALIDITY 7] x\r\n@ OK done\r\n"
	case strings.HasPrefix(command, "UID SEARCH"):
		return "* SEARCH 5\r\n@ OK done\r\n"
	case strings.Contains(command, "RFC822.SIZE"):
		return "* 1 FETCH (UID 5 RFC822.SIZE 10)\r\n@ OK done\r\n"
	case strings.Contains(command, "BODY.PEEK"):
		return "* 1 FETCH (UID 5 BODY[] {10}\r\n0123456789)\r\n@ OK done\r\n"
	}
	return "@ OK done\r\n"
}

// A server that answers otherwise than it was asked takes neither memory nor time, and brings nothing down.
func TestHostile(t *testing.T) {
	t.Parallel()
	got := 0
	keep := func(_ context.Context, m Mail) error { got = len(m.Raw); return nil }
	_, err := hostile(t, usual).Fetch(t.Context(), Cursor{}, keep)
	require.NoError(t, err)
	require.Equal(t, 10, got, "the hostile server can do it right")

	for name, change := range map[string]func(command string) (string, bool){
		"a greeting without an end": func(c string) (string, bool) { return "* OK " + strings.Repeat("x", 1<<20), c == "" },
		"a search of a megabyte": func(c string) (string, bool) {
			return "* SEARCH" + strings.Repeat(" 4294967295", 1<<17) + "\r\n@ OK\r\n", strings.Contains(c, "SEARCH")
		},
		"no IMAP": func(c string) (string, bool) { return "HTTP/1.1 200 OK\r\n\r\n", c == "" },
		"a negative mail": func(c string) (string, bool) {
			return "* 1 FETCH (UID 5 BODY[] {-1}\r\n)\r\n@ OK\r\n", strings.Contains(c, "BODY.PEEK")
		},
	} {
		a := hostile(t, func(command string) string {
			if s, other := change(command); other {
				return s
			}
			return usual(command)
		})
		_, err := a.Fetch(t.Context(), Cursor{}, func(context.Context, Mail) error { t.Errorf("%s: a mail was kept", name); return nil })
		require.Error(t, err, name)
	}
	for name, c := range map[string]struct {
		answer string
		size   int64 // of the mail that is kept, without its content
		more   bool
	}{
		"a mail larger than any":       {"* 1 FETCH (UID 5 BODY[] {900000000}\r\n" + strings.Repeat("x", 26<<20), inmail.MaxSize + 1, true},
		"a mail that is a bit larger":  {"* 1 FETCH (UID 5 BODY[] {26214401}\r\n" + strings.Repeat("x", inmail.MaxSize+1) + ")\r\n@ OK done\r\n", inmail.MaxSize + 1, true},
		"a mail without content":       {"* 1 FETCH (UID 5)\r\n@ OK done\r\n", 10, false},
		"a mail whose content is none": {"* 1 FETCH (UID 5 BODY[] NIL)\r\n@ OK done\r\n", 10, false},
	} {
		a := hostile(t, func(command string) string {
			if strings.Contains(command, "BODY.PEEK") {
				return c.answer
			}
			return usual(command)
		})
		var kept []Mail
		more, err := a.Fetch(t.Context(), Cursor{}, func(_ context.Context, m Mail) error { kept = append(kept, m); return nil })
		require.NoError(t, err, name)
		require.Equal(t, []Mail{{Cursor: Cursor{7, 5}, Size: c.size}}, kept, name)
		require.Equal(t, c.more, more, name)
		full := errors.New("disk full")
		again := hostile(t, func(command string) string {
			if strings.Contains(command, "BODY.PEEK") {
				return c.answer
			}
			return usual(command)
		})
		_, err = again.Fetch(t.Context(), Cursor{}, func(context.Context, Mail) error { return full })
		require.ErrorIs(t, err, full, name)
	}
	got = 0 // what is a bit larger than it was announced is a mail as any other
	_, err = hostile(t, func(command string) string {
		if strings.Contains(command, "BODY.PEEK") {
			return "* 1 FETCH (UID 5 BODY[] {300000}\r\n" + strings.Repeat("x", 300_000) + ")\r\n@ OK done\r\n"
		}
		return usual(command)
	}).Fetch(t.Context(), Cursor{}, keep)
	require.NoError(t, err)
	require.Equal(t, 300_000, got)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err = hostile(t, func(string) string { return "" }).Fetch(ctx, Cursor{}, keep)
	require.Error(t, err, "silence ends with the context")

	calls := 0 // all numbers there are, in a few bytes
	all := hostile(t, func(command string) string {
		switch {
		case command == "":
			return "* OK [CAPABILITY IMAP4rev1 IMAP4rev2 ESEARCH] hello\r\n"
		case strings.Contains(command, "SEARCH"):
			return "* ESEARCH (TAG \"@\") UID ALL 1:4294967295\r\n@ OK done\r\n"
		case strings.Contains(command, "FETCH"):
			return "@ OK done\r\n"
		}
		return usual(command)
	})
	more, err := all.Fetch(t.Context(), Cursor{}, func(context.Context, Mail) error { calls++; return nil })
	require.NoError(t, err)
	require.True(t, more)
	require.Zero(t, calls)
}
