package tlsfront

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestPlainHTTPIsTold(t *testing.T) {
	t.Parallel()
	b := setup(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a plain request was processed") }))
	long := strings.Repeat("a", 3*plainLineSize)
	seen := make(map[string]bool)
	for name, tc := range map[string]struct{ send, method, proto string }{
		"get":              {"GET /v1/services HTTP/1.1\r\nHost: x\r\nx-api-key: key_live_x\r\n\r\n", "GET", "HTTP/1.1"},
		"post":             {"POST /v1/requests HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}", "POST", "HTTP/1.1"},
		"head":             {"HEAD / HTTP/1.1\r\nHost: x\r\n\r\n", "HEAD", "HTTP/1.1"},
		"http/1.0":         {"GET / HTTP/1.0\r\n\r\n", "GET", "HTTP/1.0"},
		"options *":        {"OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n", "OPTIONS", "HTTP/1.1"},
		"connect":          {"CONNECT example.org:443 HTTP/1.1\r\n\r\n", "POST", "HTTP/1.1"},
		"no host":          {"GET / HTTP/1.1\r\n\r\n", "GET", "HTTP/1.1"},
		"headers to come":  {"GET / HTTP/1.1\r\nHost:", "GET", "HTTP/1.1"},
		"expects":          {"PUT / HTTP/1.1\r\nHost: x\r\nExpect: miracles\r\nContent-Length: 9\r\n\r\n", "PUT", "HTTP/1.1"},
		"bad header":       {"GET / HTTP/1.1\r\n\x00: \xff\r\n\r\n", "GET", "HTTP/1.1"},
		"empty line first": {"\r\n\r\nGET / HTTP/1.1\r\n\r\n", "GET", "HTTP/1.1"},
		"long address":     {"GET /" + long + " HTTP/1.1\r\nHost: x\r\n\r\n", "GET", "HTTP/1.1"},
		"large headers":    {"GET / HTTP/1.1\r\nHost: x\r\nx: " + long + long + "\r\n\r\n", "GET", "HTTP/1.1"},
		"h2c preface":      {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "GET", "HTTP/1.1"},
	} {
		t.Run(name, func(t *testing.T) {
			c := b.dial(t)
			_, err := io.WriteString(c, tc.send)
			require.NoError(t, err)
			res, body := answer(t, c, tc.method)
			require.Equal(t, 403, res.StatusCode)
			require.Equal(t, tc.proto, res.Proto)
			require.Equal(t, "application/json", res.Header.Get("Content-Type"))
			require.True(t, res.Close)
			id := res.Header.Get("X-Request-Id")
			require.Len(t, id, 32)
			require.False(t, seen[id])
			seen[id] = true
			require.EqualValues(t, len(plainBody), res.ContentLength)
			if tc.method == http.MethodHead {
				require.Empty(t, body)
				return
			}
			require.Equal(t, `{"error":"https_required","message":"Use HTTPS."}`, body)
		})
	}
}

// A client that sends its whole body before it reads still gets the answer.
func TestPlainLargeBody(t *testing.T) {
	t.Parallel()
	b := setup(t, hello)
	c := b.dial(t)
	_, err := io.WriteString(c, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 60000\r\n\r\n"+strings.Repeat("x", 60_000))
	require.NoError(t, err)
	res, _ := answer(t, c, http.MethodPost)
	require.Equal(t, 403, res.StatusCode)
}

// The same for net/http's client with a body larger than the kernel's buffers.
func TestPlainHugeBody(t *testing.T) {
	t.Parallel()
	b := setup(t, hello)
	client := b.client(t, false)
	for range 5 {
		res, err := client.Post("http://"+b.addr+"/", "text/plain", bytes.NewReader(make([]byte, 32<<20)))
		require.NoError(t, err)
		body, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		require.Equal(t, 403, res.StatusCode)
		require.Equal(t, plainBody, string(body))
	}
}

// A client that neither reads nor closes is disconnected.
func TestPlainLingerEnds(t *testing.T) {
	t.Parallel()
	b := setup(t, hello, options{conns: 1, linger: 20 * time.Millisecond})
	for range 3 {
		c := b.dial(t)
		_, err := io.WriteString(c, "GET / HTTP/1.1\r\n\r\n")
		require.NoError(t, err)
	}
	get(t, b.client(t, false), b.url()) // has the only slot
}

func TestGarbageIsClosed(t *testing.T) {
	t.Parallel()
	b := setup(t, hello)
	for _, text := range []string{
		"\x00\x01\x02\x03", "\x80\x2e\x01\x00\x02", "SSH-2.0-OpenSSH_9.6\r\n", "GET /\r\n", "GET\r\n", " / HTTP/1.1\r\n",
		"GET / HTTP/x.y\r\n", "GET HTTP/1.1\r\n", "G\xc3\xa9T / HTTP/1.1\r\n", "\r\n\r\n\r\n\r\n\r\n\r\n\r\n", strings.Repeat("A", 2*plainLineSize), "{}\n",
	} {
		require.Empty(t, b.talk(t, text), "%.40q", text)
	}
	_, body := get(t, b.client(t, true), b.url())
	require.Equal(t, "hello HTTP/2.0", body)
}

func FuzzRequestLine(f *testing.F) {
	f.Add([]byte("GET / HTTP/1.1\r\n"))
	f.Add([]byte("\r\nHEAD http://x/ HTTP/1.0\n"))
	f.Add([]byte("\x16\x03\x01"))
	f.Fuzz(func(t *testing.T, data []byte) {
		method, proto, ok := requestLine(bufio.NewReaderSize(bytes.NewReader(data), 16))
		if !ok {
			return
		}
		require.NotEmpty(t, method)
		require.Contains(t, string(data), method+" ")
		require.True(t, strings.HasPrefix(proto, "HTTP/"))
		res, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(plainAnswer(method, proto, time.Now()))), &http.Request{Method: method})
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
	})
}
