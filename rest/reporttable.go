package rest

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"atrium/internal/desk/request"
	"atrium/internal/gate"
	"atrium/internal/op"
	"atrium/internal/platform/text"
)

// The report about requests as a table goes through no row of the table of routes, either: see tablePath.
const reportTablePath = "/v1/reports/requests.csv"

// giveReportTable sends a report as a table.
func (s *Server) giveReportTable(w http.ResponseWriter, r *http.Request) error {
	in, call, err := queryOf(s, r, request.Report)
	if err != nil {
		return err
	}
	in.Named = true
	ctx, cancel := context.WithTimeout(r.Context(), gate.MaxCall)
	defer cancel()
	report, _, err := op.Run(ctx, s.engine, request.Report, in, call.Checked())
	if err != nil {
		return err
	}
	body := bytes.NewBufferString(bom)
	lines := csv.NewWriter(body)
	if err := lines.WriteAll(reportLines(report)); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	tableHeaders(w.Header(), "report.csv")
	if r.Method == http.MethodGet {
		_, _ = body.WriteTo(w) // a client who has gone needs no answer
	}
	return nil
}

// figureColumns are the columns of figures.
var figureColumns = []struct {
	name string
	of   func(f *request.Figures) string
}{
	{"filed", func(f *request.Figures) string { return strconv.Itoa(f.Filed) }},
	{"completed", func(f *request.Figures) string { return strconv.Itoa(f.Completed) }},
	{"cancelled", func(f *request.Figures) string { return strconv.Itoa(f.Cancelled) }},
	{"open", func(f *request.Figures) string { return strconv.Itoa(f.Open) }},
	{"reopened", func(f *request.Figures) string { return strconv.Itoa(f.Reopened) }},
	{"firstResponseP50", func(f *request.Figures) string { return numberCell(f.FirstResponseP50) }},
	{"firstResponseP90", func(f *request.Figures) string { return numberCell(f.FirstResponseP90) }},
	{"resolutionP50", func(f *request.Figures) string { return numberCell(f.ResolutionP50) }},
	{"resolutionP90", func(f *request.Figures) string { return numberCell(f.ResolutionP90) }},
	{"slaMet", func(f *request.Figures) string { return strconv.Itoa(f.SLAMet) }},
	{"slaMissed", func(f *request.Figures) string { return strconv.Itoa(f.SLAMissed) }},
	{"ratings", func(f *request.Figures) string { return strconv.Itoa(f.Ratings) }},
	{"satisfaction", func(f *request.Figures) string {
		if f.Satisfaction == nil {
			return ""
		}
		return strconv.FormatFloat(*f.Satisfaction, 'f', 2, 64)
	}},
}

// numberCell writes a number; nothing for nil.
func numberCell(n *int) string {
	if n == nil {
		return ""
	}
	return strconv.Itoa(*n)
}

// reportLines returns the lines of a report's table, with the headings.
func reportLines(r *request.Reported) [][]string {
	headings := []string{"part", "key", "name"}
	for _, c := range figureColumns {
		headings = append(headings, c.name)
	}
	lines := [][]string{headings}
	add := func(part string, rows ...*request.FiguresOf) {
		for _, row := range rows {
			line := []string{part, text.Cell(op.Or(row.Key, "")), text.Cell(row.Name)}
			for _, c := range figureColumns {
				line = append(line, c.of(&row.Figures))
			}
			lines = append(lines, line)
		}
	}
	add("total", &request.FiguresOf{Figures: *r.Total})
	add("before", &request.FiguresOf{Figures: *r.Before})
	add("over", r.Over...)
	for _, g := range r.Groups {
		add(g.By, g.Rows...)
	}
	return lines
}

// addReportTable describes the endpoint of the report as a table.
func (d *document) addReportTable() {
	of := slices.IndexFunc(routes, func(rt route) bool { return rt.op == request.Report.Info() })
	parameters := slices.DeleteFunc(parameters(&routes[of]), func(p *huma.Param) bool { return p.Ref == "#/components/parameters/If-None-Match" })
	d.putTable(&huma.Operation{
		OperationID: "exportRequestReport", Path: reportTablePath, Summary: request.Report.Info().Summary + " as a table",
		Description: "The report as a CSV table in UTF-8 with a byte-order mark: a line for each of its figures, with the part (total, before, over, or " +
			"what by names), the key and the name of what the key is of, as far as the caller sees it. An apostrophe stands before a text that a " +
			"spreadsheet would take for a formula.",
		Parameters: parameters, Tags: []string{tagOf(request.Report.Info())},
	}, "part,key,name,filed,completed\ntotal,,,42,40\nover,2026-03-02,,3,2\n")
}
