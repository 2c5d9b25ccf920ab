package rest

import (
	"cmp"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"atrium/internal/desk/request"
	"atrium/internal/gate"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
)

// The table of requests goes through no row of the table of routes: it is no JSON, is streamed, and is asked for by pages that send a
// session cookie.
const tablePath = "/v1/requests.csv"

// How long a client may take for a row of a table, and for all of it.
const (
	rowPatience   = 30 * time.Second
	tablePatience = 10 * time.Minute
)

// bom tells spreadsheets that the text is UTF-8.
const bom = "\ufeff"

// handleTables registers the endpoints of tables.
func (s *Server) handleTables() {
	s.handleTable(tablePath, request.Export.Info(), s.giveTable)
	s.handleTable(reportTablePath, request.Report.Info(), s.giveReportTable)
}

// handleTable registers the endpoint of a table, for pages of this origin alone where they send a cookie.
func (s *Server) handleTable(path string, of *op.Info, give func(http.ResponseWriter, *http.Request) error) {
	for _, method := range []string{http.MethodGet, http.MethodHead} {
		s.router.MethodFunc(method, path, func(w http.ResponseWriter, r *http.Request) {
			gate.SetRoute(w, path)
			gate.SetOperation(w, of.Name)
			err := gate.SameOrigin(r, s.baseURL)
			if err == nil {
				err = give(w, r)
			}
			if err != nil {
				s.fail(w, r, err)
			}
		})
	}
}

// tableHeaders says that the answer is a CSV table, to be kept in a file of this name.
func tableHeaders(h http.Header, file string) {
	harmless(h, "text/csv; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Disposition", "attachment; filename="+file)
}

// giveTable sends a table. Returns what is wrong before its first byte; a table that fails later breaks off, so that nobody takes it for
// whole.
func (s *Server) giveTable(w http.ResponseWriter, r *http.Request) error {
	in, _, err := queryOf(s, r, request.Export, "page", "pageSize")
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(r.Context(), tablePatience)
	defer cancel()
	table, err := request.OpenTable(ctx, s.engine, in)
	if err != nil {
		return err
	}
	defer table.Close()
	if err := gate.Charge(ctx, min(table.Total, request.MaxExport)/1000); err != nil { // as GraphQL counts what costs much
		return err
	}
	if r.Method == http.MethodGet {
		if err := table.Record(ctx); err != nil {
			return fmt.Errorf("record the export: %w", err)
		}
	}
	h := w.Header()
	tableHeaders(h, "requests.csv")
	h.Set("X-Total-Count", strconv.Itoa(table.Total))
	if r.Method == http.MethodGet {
		s.sendTable(ctx, table, w)
	}
	return nil
}

// queryOf reads the input of an operation that a query alone asks for; not names parameters that are none of a table's.
func queryOf[In, Out any](s *Server, r *http.Request, o *op.Operation[In, Out], not ...string) (in In, call op.Call, err error) {
	if call, err = o.Admit(r.Context(), s.engine, ""); err != nil {
		return in, call, err
	}
	query, err := o.Info().Input.Query(r.URL.RawQuery)
	if err != nil {
		return in, call, apperr.InvalidField("query", "must be parameters joined by '&', percent-encoded")
	}
	for _, name := range not {
		if query.Has(name) {
			return in, call, apperr.InvalidField(name, "is no parameter of a table, which has all rows")
		}
	}
	in, err = o.Decode(nil, func(string) string { return "" }, query)
	return in, call, err
}

// sendTable writes the rows of a table as they are read.
func (s *Server) sendTable(ctx context.Context, table *request.Table, w http.ResponseWriter) {
	connection, lines := http.NewResponseController(w), csv.NewWriter(w)
	_, err := io.WriteString(w, bom)
	if err == nil {
		err = table.Rows(ctx, func(line []string) error {
			_ = connection.SetWriteDeadline(time.Now().Add(rowPatience)) // where it cannot be set, the server's own deadline holds
			return lines.Write(line)
		}, func() error {
			lines.Flush()
			return cmp.Or(lines.Error(), connection.Flush())
		})
	}
	if err != nil {
		s.log.WarnContext(ctx, "a table broke off", "error", err, "requestId", gate.RequestID(w))
		_ = connection.SetWriteDeadline(time.Unix(1, 0)) // ends the stream before its end
	}
}

// addTable describes the endpoint of the table.
func (d *document) addTable() {
	of := slices.IndexFunc(routes, func(rt route) bool { return rt.op == request.List.Info() })
	filters := slices.DeleteFunc(parameters(&routes[of]), func(p *huma.Param) bool { return p.Name == "page" || p.Name == "pageSize" })
	d.putTable(&huma.Operation{
		OperationID: "exportRequests", Path: tablePath, Summary: request.Export.Info().Summary,
		Description: fmt.Sprintf("A CSV table in UTF-8 with a byte-order mark, with the rows and the order of the list, at most %d of them; "+
			"X-Total-Count says how many match. An apostrophe stands before a text that a spreadsheet would take for a formula. A table that "+
			"breaks off is not whole. A company has one at a time, and every thousand rows count as a call. The audit log tells what staff "+
			"exports.", request.MaxExport),
		Parameters: filters, Tags: []string{tagOf(request.Export.Info())},
	}, "number,id,title\n1042,req_01k9ye4ryzf7stj6dqnm8x2v3b,Laptop for a new colleague\n", "X-Total-Count")
}

// putTable describes an endpoint that answers requests:read with a CSV table like the sample.
func (d *document) putTable(o *huma.Operation, sample string, headers ...string) {
	o.Method, o.Extensions = http.MethodGet, map[string]any{"x-scope": "requests:read"}
	o.Security = []map[string][]string{{"apiKey": {}}, {d.tokens(): {"requests:read"}}}
	o.Responses = map[string]*huma.Response{"200": {
		Description: "The table.", Headers: headerRefs(append(headers, limited...)...),
		Content: map[string]*huma.MediaType{"text/csv": {Schema: &huma.Schema{Type: huma.TypeString}, Example: sample}},
	}}
	d.put(o,
		http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests, http.StatusInternalServerError,
		http.StatusServiceUnavailable,
	)
}
