package document_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/image/font/gofont/gomono"

	"atrium/internal/billing"
	"atrium/internal/billing/document"
	"atrium/internal/gate"
	"atrium/internal/op"
	"atrium/internal/people/company"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
)

// Only callers who may read the invoice get its documents. The bytes of a PDF do not change.
func TestDocuments(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		operator := principal.With(t.Context(), principal.Operator(w.A.Company.ID, "test"))
		require.NoError(t, w.Store.Write(w.As(w.A, principal.Owner), func(ctx context.Context, tx *store.Tx) error {
			return tx.Company.UpdateOneID(w.A.Company.ID).SetName("<b>Åström & Söhne</b> ООО 🚀 𠮷").Exec(ctx)
		}))
		lines := []billing.Line{{Description: "A year of Enterprise 🚀", Amount: 250_000}}
		for range 49 {
			lines = append(lines, billing.Line{Description: strings.Repeat("Training of many people ", 8), Amount: 100})
		}
		draft := testkit.Run(t, w, operator, billing.DraftInvoice, billing.DraftInvoiceInput{Lines: lines, PeriodStart: w.Clock.Now(), PeriodEnd: w.Clock.Now().AddDate(1, 0, 0)})
		h := document.Options{Engine: w.Engine, Gate: gate.New(gate.Options{}), Log: slog.New(slog.DiscardHandler), From: []string{"Seller Ltd", "1 Street"}}
		get := func(as context.Context, path string) *httptest.ResponseRecorder {
			rec := httptest.NewRecorder()
			document.Unguarded(h).ServeHTTP(rec, httptest.NewRequest(http.MethodGet, document.Path+path, nil).WithContext(as))
			return rec
		}
		owner := w.As(w.A, principal.Owner)
		require.Equal(t, 404, get(owner, draft.ID).Code, "a company sees no drafts")
		inv := testkit.Run(t, w, operator, billing.IssueInvoice, op.ByID{ID: draft.ID})
		testkit.Run(t, w, operator, billing.CreditInvoice, billing.CreditInvoiceInput{ByID: op.ByID{ID: inv.ID}, Amount: 500, Description: "One <i>day</i> less"})

		page := get(owner, inv.ID)
		require.Equal(t, 200, page.Code)
		for _, text := range []string{"INV-000001", "Seller Ltd", "&lt;b&gt;Åström &amp; Söhne&lt;/b&gt; ООО 🚀 𠮷", "USD 2549.00", "Left to pay: USD 2544.00", inv.ID + "/credit-notes/1"} {
			require.Contains(t, page.Body.String(), text)
		}
		require.NotContains(t, page.Body.String(), "<b>")
		require.Contains(t, page.Header().Get("Content-Security-Policy"), "default-src 'none'")
		note := get(owner, inv.ID+"/credit-notes/1")
		require.Equal(t, 200, note.Code)
		require.Contains(t, note.Body.String(), "CN-000001")
		require.Contains(t, note.Body.String(), "One &lt;i&gt;day&lt;/i&gt; less")

		for _, path := range []string{inv.ID + ".pdf", inv.ID + "/credit-notes/1.pdf"} {
			file := get(owner, path)
			require.Equal(t, 200, file.Code)
			require.Equal(t, "application/pdf", file.Header().Get("Content-Type"))
			require.True(t, bytes.HasPrefix(file.Body.Bytes(), []byte("%PDF-1.")))
			require.True(t, bytes.HasSuffix(bytes.TrimSpace(file.Body.Bytes()), []byte("%%EOF")))
			require.Equal(t, file.Body.Bytes(), get(owner, path).Body.Bytes())
		}
		require.Contains(t, get(owner, inv.ID+".pdf").Header().Get("Content-Disposition"), `"INV-000001.pdf"`)

		withFont := h
		withFont.Font = gomono.TTF
		rec := httptest.NewRecorder()
		document.Unguarded(withFont).ServeHTTP(rec, httptest.NewRequest(http.MethodGet, document.Path+inv.ID+".pdf", nil).WithContext(owner))
		require.Equal(t, 200, rec.Code)
		require.NotEqual(t, get(owner, inv.ID+".pdf").Body.Bytes(), rec.Body.Bytes(), "the operator's font is used")

		for path, code := range map[string]int{inv.ID: 200, inv.ID + ".pdf": 200, inv.ID + "/credit-notes/1.pdf": 200} {
			require.Equal(t, code, get(w.As(w.A, principal.Admin), path).Code)
			require.Equal(t, 403, get(w.As(w.A, principal.Agent), path).Code)
			require.Equal(t, 403, get(w.As(w.A, principal.Member), path).Code)
			require.Equal(t, 404, get(w.As(w.B, principal.Owner), path).Code)
		}
		for _, path := range []string{"", "inv_none", "inv_none.pdf", inv.ID + ".PDF", inv.ID + ".pdf.pdf", inv.ID + "/credit-notes/2", inv.ID + "/credit-notes/x", inv.ID + "/x", "a/b/c/d"} {
			require.Equal(t, 404, get(owner, path).Code, path)
		}
		rec = httptest.NewRecorder()
		document.Unguarded(h).ServeHTTP(rec, httptest.NewRequest(http.MethodPost, document.Path+inv.ID, nil).WithContext(owner))
		require.Equal(t, 405, rec.Code)
	})
}

// Documents are in the company's language, with its numbers and dates; what was written when the invoice was issued stays.
func TestDocumentsInGerman(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		operator, owner := principal.With(t.Context(), principal.Operator(w.A.Company.ID, "test")), w.As(w.A, principal.Owner)
		testkit.Run(t, w, owner, company.Update, company.UpdateInput{Locale: op.SetTo("de"), TimeZone: op.SetTo("Europe/Berlin")})
		start := time.Date(2026, 6, 30, 22, 30, 0, 0, time.UTC)
		draft := testkit.Run(t, w, operator, billing.DraftInvoice, billing.DraftInvoiceInput{
			Lines: []billing.Line{{Description: "A year of Enterprise", Amount: 1_250_000}}, PeriodStart: start, PeriodEnd: start.AddDate(1, 0, 0),
		})
		inv := testkit.Run(t, w, operator, billing.IssueInvoice, op.ByID{ID: draft.ID})
		testkit.Run(t, w, operator, billing.CreditInvoice, billing.CreditInvoiceInput{ByID: op.ByID{ID: inv.ID}, Amount: 500, Description: "One day less"})
		h := document.Options{Engine: w.Engine, Gate: gate.New(gate.Options{}), Log: slog.New(slog.DiscardHandler)}
		get := func(path string) string {
			rec := httptest.NewRecorder()
			document.Unguarded(h).ServeHTTP(rec, httptest.NewRequest(http.MethodGet, document.Path+path, nil).WithContext(owner))
			require.Equal(t, 200, rec.Code)
			return rec.Body.String()
		}
		page := get(inv.ID)
		for _, text := range []string{
			`<html lang="de">`, "Rechnung INV-000001", "Zu zahlender Betrag", "12.500,00 USD", "Noch zu zahlen: 12.495,00 USD", "1. Juli 2026, 00:30 Uhr MESZ",
			"Gutschriften", "Als PDF speichern", "A year of Enterprise",
		} {
			require.Contains(t, page, text)
		}
		note := get(inv.ID + "/credit-notes/1")
		require.Contains(t, note, "Gutschrift CN-000001")
		require.Contains(t, note, "Vom zu zahlenden Betrag abgezogen")
		require.True(t, strings.HasPrefix(get(inv.ID+".pdf"), "%PDF-1."))
		testkit.Run(t, w, owner, company.Update, company.UpdateInput{Locale: op.Clear[string]()})
		require.Contains(t, get(inv.ID), "Invoice INV-000001")
	})
}

// A font that fpdf could not embed, or that could not show amounts, is refused when the server starts.
func TestCheckFont(t *testing.T) {
	t.Parallel()
	require.NoError(t, document.CheckFont(gomono.TTF))
	for name, font := range map[string][]byte{
		"empty": {}, "text": []byte("a font"), "collection": []byte("ttcf\x00\x02"), "PostScript outlines": []byte("OTTO\x00\x0b"), "cut off": gomono.TTF[:1000],
	} {
		require.ErrorContains(t, document.CheckFont(font), "not a TrueType font", name)
	}
}
