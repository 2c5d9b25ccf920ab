package graph

import (
	"bytes"
	"encoding/json"
	"errors"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/99designs/gqlgen/graphql"

	"atrium/internal/apperr"
)

// The protocol is that of graphql-sse, in its mode of distinct connections: each operation has an answer of its own, of
// events "next" with a result each, and "complete" at the end.

const eventStream = "text/event-stream"

// accepted says which answers a caller takes, by its Accept headers.
type accepted struct{ events, json bool }

// acceptedBy reads Accept. What is not named (*/*) does not count for events, which only those take who know them.
func acceptedBy(r *http.Request) accepted {
	var a accepted
	for _, header := range r.Header.Values("Accept") {
		for part := range strings.SplitSeq(header, ",") {
			media, params, err := mime.ParseMediaType(part)
			if q, has := params["q"]; err != nil || has && zero(q) {
				continue
			}
			switch media {
			case eventStream:
				a.events = true
			case "application/json", "application/graphql-response+json":
				a.json = true
			}
		}
	}
	return a
}

func zero(q string) bool {
	v, err := strconv.ParseFloat(q, 64)
	return err == nil && v == 0
}

// errNoEvents is the refusal of a subscription whose caller takes no events.
var errNoEvents = apperr.InvalidField("query", "is a subscription: send it with Accept: %s", eventStream)

// errGone says that the client cannot be written to any more.
var errGone = errors.New("graph: the client has gone")

// eventWriter sends events. A client that does not read them in time is given up.
type eventWriter struct {
	w        http.ResponseWriter
	control  *http.ResponseController
	patience time.Duration
}

func newEventWriter(w http.ResponseWriter, patience time.Duration) *eventWriter {
	return &eventWriter{w: w, control: http.NewResponseController(w), patience: patience}
}

// open sends the head of the answer. The server's own limits of time, which are for calls that end, stand aside.
func (e *eventWriter) open() error {
	_ = e.control.SetReadDeadline(time.Time{}) // the body has been read; a connection that cannot has none
	h := e.w.Header()
	h.Set("Content-Type", eventStream)
	h.Set("X-Accel-Buffering", "no") // proxies hand each event on at once
	e.w.WriteHeader(http.StatusOK)
	return e.comment()
}

// comment sends a sign of life.
func (e *eventWriter) comment() error { return e.send([]byte(":\n\n")) }

// send returns errGone when the client has gone or does not read.
func (e *eventWriter) send(b []byte) error {
	_ = e.control.SetWriteDeadline(time.Now().Add(e.patience))
	_, err := e.w.Write(b)
	if err == nil {
		err = e.control.Flush()
	}
	if err != nil {
		return errors.Join(errGone, err)
	}
	_ = e.control.SetWriteDeadline(time.Time{}) // in HTTP/2 it would end the stream though nothing is being written
	return nil
}

// writeEvent writes a result as the event "next"; data reports whether anything was run.
func writeEvent(b *bytes.Buffer, res *graphql.Response, data bool) {
	b.WriteString("event: next\ndata: ")
	from := b.Len()
	writeResult(b, res, data)
	if bytes.ContainsAny(b.Bytes()[from:], "\r\n") { // between the tokens of a JSON value that is kept as it was sent
		line := bytes.Clone(b.Bytes()[from:])
		b.Truncate(from)
		if err := json.Compact(b, line); err != nil {
			b.Truncate(from)
			b.WriteString(`{"errors":[{"message":"Something went wrong on our side.","extensions":{"code":"internal_error"}}]}`)
		}
	}
	b.WriteString("\n\n")
}

// writeComplete writes the event after which none follows.
func writeComplete(b *bytes.Buffer) { b.WriteString("event: complete\ndata:\n\n") }

// answerEvents sends what came of a query or mutation as events.
func (s *Server) answerEvents(w http.ResponseWriter, res *graphql.Response) {
	var b bytes.Buffer
	writeEvent(&b, res, true)
	writeComplete(&b)
	h := w.Header()
	h.Set("Content-Type", eventStream)
	h.Set("Content-Length", strconv.Itoa(b.Len()))
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write(b.Bytes()) // a caller who has gone cannot be told so
}
