package form_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/internal/desk/form"
)

// A list of files has a detail for each file that is refused, which says why.
func TestEachFileIsRefusedByItself(t *testing.T) {
	t.Parallel()
	f := compile(t, `{"key": "f", "type": "file", "maxFiles": 8, "accept": [".pdf", "image/*"], "required": true}`)
	answer := []any{pictures[0], text, unknownFile, unsent, pictures[0], 7.0}
	details, err := f.Validate(t.Context(), map[string]any{"f": answer}, form.Lookups{Files: kept})
	require.NoError(t, err)
	got := []string{}
	for _, d := range details {
		got = append(got, d.Field+" "+d.Message)
	}
	require.Equal(t, []string{
		"fields.f[1] Must be one of: .pdf, image/*.", "fields.f[2] There is no such file.", "fields.f[3] Its bytes have not come yet.",
		"fields.f[4] Must not be named twice.", "fields.f[5] Must be the id of a file.",
	}, got)
	require.Equal(t, []string{"fields.f"}, refuse(t, f, `{}`))
	require.Equal(t, []string{"fields.f"}, refuse(t, f, `{"f": []}`))
	require.Equal(t, []form.FileAnswer{{Key: "f", IDs: pictures[:2]}}, f.Files(map[string]any{"f": pictures[:2], "g": pictures[2:]}))
	require.Empty(t, f.Files(map[string]any{"f": pictures[0]}))
	require.True(t, f.AsksForFiles("f"))
	require.False(t, f.AsksForFiles("g"))
	_, err = f.Validate(t.Context(), map[string]any{"f": pictures[:1]}, form.Lookups{})
	require.ErrorContains(t, err, "there is no lookup")
}

// A file is of the kind that its bytes say, and of the one that its name says where the bytes may be those.
func TestKindsOfFiles(t *testing.T) {
	t.Parallel()
	const (
		word  = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
		other = "application/octet-stream"
	)
	for _, c := range []struct {
		accept, name, mediaType string
		want                    bool
	}{
		{".pdf", "Report.PDF", "application/pdf", true},
		{".pdf", "report.pdf", other, true},
		{".pdf", "report.pdf", "text/plain", false}, // a page that calls itself so
		{".pdf", "report.pdf", "image/png", false},
		{".pdf", "report", "application/pdf", false},
		{".pdf", "pdf", "application/pdf", false},
		{".tar.gz", "a.tar.gz", "application/x-gzip", true},
		{".tar.gz", "a.tar.gz", "application/zip", false},
		{".dwg", "plan.dwg", other, true},
		{"application/pdf", "report", "application/pdf", true},
		{"application/pdf", "report.pdf", other, true},
		{"application/pdf", "report.pdf", "text/plain", false},
		{"APPLICATION/PDF", "report.txt", "application/pdf", true},
		{"image/*", "photo", "image/webp", true},
		{"image/*", "photo.heic", other, true},
		{"image/*", "drawing.svg", "text/plain", true},
		{"image/*", "notes.txt", "text/plain", false},
		{"image/*", "photo.png", "application/pdf", false},
		{word, "letter.docx", "application/zip", true},
		{word, "letter.docx", other, true},
		{word, "letter.zip", "application/zip", false},
		{word, "letter.docx", "image/png", false},
		{"text/csv", "table.csv", "text/plain", true},
		{"text/csv", "table.txt", "text/plain", false},
		{"text/plain", "table.csv", "text/plain", true},
		{"application/zip", "letter.docx", "application/zip", true},
		{"audio/wav", "talk.wav", "audio/wave", true},
		{"video/mp4", "film.mp4", other, true},
	} {
		f := compile(t, fmt.Sprintf(`{"key": "f", "type": "file", "accept": [%q]}`, c.accept))
		details, err := f.Validate(t.Context(), map[string]any{"f": []string{text}}, form.Lookups{Files: func(context.Context, []string) (map[string]form.Attached, error) {
			return map[string]form.Attached{text: {Name: c.name, MediaType: c.mediaType}}, nil
		}})
		require.NoError(t, err)
		require.Equal(t, c.want, len(details) == 0, "%s %s %s: %v", c.accept, c.name, c.mediaType, details)
	}
}
