package document

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"log/slog"
	"net/http"
	"strconv"
	"strings"

	"atrium/ent"
	"atrium/internal/billing"
	"atrium/internal/gate"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/locale"
)

//go:embed page.html.tmpl
var pageText string

// pages are the page by language.
var pages = func() map[string]*template.Template {
	out := map[string]*template.Template{}
	for _, lang := range locale.Languages {
		out[lang] = template.Must(template.New("page").Funcs(locale.Funcs(lang)).Parse(pageText))
	}
	return out
}()

// Options configure the handler.
type Options struct {
	Engine *op.Engine
	Gate   *gate.Gate
	Log    *slog.Logger
	From   []string // the seller's lines on every document
	Font   []byte   // a TrueType font for PDF files, which CheckFont accepts; nil means the Go fonts
}

// Path is the prefix of the handler's routes.
const Path = "/invoices/"

// Address returns the URL of an invoice's PDF.
func Address(baseURL, id string) string { return baseURL + Path + id + ".pdf" }

// NoteAddress returns the URL of a credit note's PDF.
func NoteAddress(baseURL string, n *ent.CreditNote) string {
	return fmt.Sprintf("%s%s%s/credit-notes/%d.pdf", baseURL, Path, n.InvoiceID, n.Number)
}

// Handler serves documents to callers who may read their invoice.
func Handler(o Options) http.Handler { return o.Gate.Guard(gate.Cookies, o.routes(), o.fail) }

func (o Options) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+Path+"{file}", func(w http.ResponseWriter, r *http.Request) {
		gate.SetRoute(w, Path+"{id}")
		id, pdf := strings.CutSuffix(r.PathValue("file"), ".pdf")
		o.answer(w, r, id, pdf, func(d *billing.Document) (*sheet, error) { return invoiceSheet(d, o.From, op.ReaderOf(nil, d.Company)) })
	})
	mux.HandleFunc("GET "+Path+"{id}/credit-notes/{file}", func(w http.ResponseWriter, r *http.Request) {
		gate.SetRoute(w, Path+"{id}/credit-notes/{number}")
		text, pdf := strings.CutSuffix(r.PathValue("file"), ".pdf")
		number, _ := strconv.ParseInt(text, 10, 64) // 0 for an invalid number, which no note has
		o.answer(w, r, r.PathValue("id"), pdf, func(d *billing.Document) (*sheet, error) {
			return noteSheet(d, number, o.From, op.ReaderOf(nil, d.Company)), nil
		})
	})
	mux.HandleFunc(Path, func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			o.fail(w, r, apperr.New(apperr.MethodNotAllowed, "Use GET."))
			return
		}
		o.fail(w, r, apperr.New(apperr.NotFound, "There is no such document."))
	})
	return mux
}

func (o Options) fail(w http.ResponseWriter, r *http.Request, err error) { gate.Fail(o.Log, w, r, err) }

// answer reads the invoice with the caller's rights and writes the sheet that of makes from it.
func (o Options) answer(w http.ResponseWriter, r *http.Request, id string, pdf bool, of func(*billing.Document) (*sheet, error)) {
	gate.SetOperation(w, billing.GetDocument.Info().Name)
	d, _, err := op.Run(r.Context(), o.Engine, billing.GetDocument, op.ByID{ID: id}, nil)
	var s *sheet
	if err == nil {
		s, err = of(d)
	}
	if err == nil && s == nil {
		err = apperr.New(apperr.NotFound, "There is no such document.")
	}
	var out []byte
	if err == nil {
		out, err = s.bytes(pdf, o.Font)
	}
	if err != nil {
		o.fail(w, r, err)
		return
	}
	h := w.Header()
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Content-Type", "text/html; charset=utf-8")
	if pdf {
		h.Set("Content-Type", "application/pdf")
		h.Set("Content-Disposition", fmt.Sprintf(`inline; filename="%s.pdf"`, s.Number))
	}
	_, _ = w.Write(out) // the client may have gone
}

// Language returns the language of the sheet.
func (s *sheet) Language() string { return s.in.Language }

// bytes returns the sheet as PDF or as HTML.
func (s *sheet) bytes(pdf bool, font []byte) ([]byte, error) {
	if pdf {
		return s.writePDF(font)
	}
	var out bytes.Buffer
	if err := pages[s.Language()].Execute(&out, s); err != nil {
		return nil, fmt.Errorf("write the page: %w", err)
	}
	return out.Bytes(), nil
}
