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

	"atrium/internal/platform/apperr"
)

// The protocol is graphql-sse in its mode of distinct connections: each operation has an answer of its own, with an event "next"
// for each result and an event "complete" at the end.

const eventStream = "text/event-stream"

// responseType is the type of answers that GraphQL over HTTP has of its own. Its status tells refusals from results, so clients read
// the errors of a refusal too.
const responseType = "application/graphql-response+json"

// accepted says which types of answers a caller accepts; own, whether JSON is to be sent as responseType.
type accepted struct{ events, json, own bool }

// acceptedBy reads the headers Accept. */* does not count for events, because only clients that know the protocol can read them, nor
// for responseType, because what asked for nothing may know application/json alone. Of the two, the one that is preferred is sent.
func acceptedBy(r *http.Request) accepted {
	var events, plain, own float64
	for _, header := range r.Header.Values("Accept") {
		for part := range strings.SplitSeq(header, ",") {
			media, params, err := mime.ParseMediaType(part)
			if err != nil {
				continue
			}
			switch q := weight(params); media {
			case eventStream:
				events = max(events, q)
			case "application/json":
				plain = max(plain, q)
			case responseType:
				own = max(own, q)
			}
		}
	}
	return accepted{events: events > 0, json: plain > 0 || own > 0, own: own > 0 && own >= plain}
}

// weight returns a media type's q, 1 for none.
func weight(params map[string]string) float64 {
	q, err := strconv.ParseFloat(params["q"], 64)
	if err != nil {
		return 1
	}
	return q
}

// errNoEvents is the error of a subscription whose caller does not accept events.
var errNoEvents = apperr.InvalidField("query", "is a subscription: send it with Accept: %s", eventStream)

// errGone says that the client cannot be written to any more.
var errGone = errors.New("graph: the client has gone")

// eventWriter sends events. It gives a client up that does not read them in time.
type eventWriter struct {
	w        http.ResponseWriter
	control  *http.ResponseController
	patience time.Duration
}

func newEventWriter(w http.ResponseWriter, patience time.Duration) *eventWriter {
	return &eventWriter{w: w, control: http.NewResponseController(w), patience: patience}
}

// open sends the headers of the answer. It removes the server's read deadline; each send has a write deadline of its own.
func (e *eventWriter) open() error {
	_ = e.control.SetReadDeadline(time.Time{}) // the body has been read; a connection that does not support deadlines has none
	h := e.w.Header()
	h.Set("Content-Type", eventStream)
	h.Set("X-Accel-Buffering", "no") // tells proxies not to buffer events
	e.w.WriteHeader(http.StatusOK)
	return e.comment()
}

// comment sends an empty comment, which keeps the connection alive.
func (e *eventWriter) comment() error { return e.send([]byte(":\n\n")) }

// send writes b. Returns errGone when the client has gone or does not read.
func (e *eventWriter) send(b []byte) error {
	_ = e.control.SetWriteDeadline(time.Now().Add(e.patience))
	_, err := e.w.Write(b)
	if err == nil {
		err = e.control.Flush()
	}
	if err != nil {
		return errors.Join(errGone, err)
	}
	_ = e.control.SetWriteDeadline(time.Time{}) // in HTTP/2 an expired deadline would end the stream even while nothing is written
	return nil
}

// writeEvent writes a result as the event "next"; data says whether the operation was run.
func writeEvent(b *bytes.Buffer, res *graphql.Response, data bool) {
	b.WriteString("event: next\ndata: ")
	from := b.Len()
	writeResult(b, res, data)
	if bytes.ContainsAny(b.Bytes()[from:], "\r\n") { // a JSON value that is stored as it was sent may have line breaks
		line := bytes.Clone(b.Bytes()[from:])
		b.Truncate(from)
		if err := json.Compact(b, line); err != nil {
			b.Truncate(from)
			b.WriteString(`{"errors":[{"message":"Something went wrong on our side.","extensions":{"code":"internal_error"}}]}`)
		}
	}
	b.WriteString("\n\n")
}

// writeComplete writes the last event.
func writeComplete(b *bytes.Buffer) { b.WriteString("event: complete\ndata:\n\n") }

// answerEvents sends the result of a query or mutation as events.
func (s *Server) answerEvents(w http.ResponseWriter, res *graphql.Response) {
	var b bytes.Buffer
	writeEvent(&b, res, true)
	writeComplete(&b)
	h := w.Header()
	h.Set("Content-Type", eventStream)
	h.Set("Content-Length", strconv.Itoa(b.Len()))
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write(b.Bytes()) // the caller may be gone
}
