package rest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"atrium/internal/desk/attachment"
	"atrium/internal/gate"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
)

// The bytes of files go through no row of the table: they are no JSON, are streamed in both directions, and are asked for by pages that
// send a session cookie. A PUT with a cookie needs the header that gate.SameOrigin asks for.
const (
	contentPath = "/v1/attachments/{id}/content"
	previewPath = "/v1/attachments/{id}/preview"

	slowest = 8 << 10 // bytes a second, of the slowest client that is waited for
)

// AnnouncedAttachment is an attachment whose bytes are awaited.
type AnnouncedAttachment struct {
	Attachment
	UploadURL string `json:"uploadUrl" doc:"Where its bytes are to be sent, by PUT." example:"https://127.0.0.1:8443/v1/attachments/att_01k9ye4ryzf7stj6dqnm8x2v3b/content"`
}

func announcedOut(a *attachment.Announced) AnnouncedAttachment {
	return AnnouncedAttachment{attachmentOut(a.Attachment), a.UploadURL}
}

// isContent reports whether a path is one of a file's bytes.
func isContent(path string) bool {
	rest, ok := strings.CutPrefix(path, "/v1/attachments/")
	id, what, cut := strings.Cut(rest, "/")
	return ok && cut && id != "" && (what == "content" || what == "preview")
}

// handleContent registers the endpoints of a file's bytes.
func (s *Server) handleContent(d *attachment.Depot) {
	endpoints := []struct {
		method, path string
		info         *op.Info
		serve        func(context.Context, *attachment.Depot, http.ResponseWriter, *http.Request) error
	}{
		{http.MethodPut, contentPath, attachment.Upload.Info(), s.takeContent},
		{http.MethodGet, contentPath, attachment.Get.Info(), s.giveContent},
		{http.MethodHead, contentPath, attachment.Get.Info(), s.giveContent},
		{http.MethodGet, previewPath, attachment.Get.Info(), s.givePreview},
		{http.MethodHead, previewPath, attachment.Get.Info(), s.givePreview},
	}
	for _, e := range endpoints {
		s.router.MethodFunc(e.method, e.path, func(w http.ResponseWriter, r *http.Request) {
			gate.SetRoute(w, e.path)
			gate.SetOperation(w, e.info.Name)
			if err := e.serve(r.Context(), d, w, r); err != nil {
				s.fail(w, r, err)
			}
		})
	}
	s.methods = append(s.methods, http.MethodPut)
}

// patience returns how long a client may take for so many bytes.
func patience(n int64) time.Duration {
	return 30*time.Second + time.Duration(n/slowest)*time.Second
}

// takeContent takes the bytes of an announced file.
func (s *Server) takeContent(ctx context.Context, d *attachment.Depot, w http.ResponseWriter, r *http.Request) error {
	if err := gate.SameOrigin(r, s.baseURL); err != nil {
		return err
	}
	if err := gate.Unencoded(r.Header); err != nil {
		return err
	}
	if r.ContentLength < 0 {
		return apperr.InvalidField("Content-Length", "is required")
	}
	connection := http.NewResponseController(w)
	deadline := time.Now().Add(patience(r.ContentLength))
	_ = connection.SetReadDeadline(deadline) // where it cannot be set, the server's own deadline holds
	_ = connection.SetWriteDeadline(deadline.Add(30 * time.Second))
	a, err := d.Receive(ctx, pathValue(r, "id"), r.Body, r.ContentLength)
	if err != nil {
		return err // the deadline stays, because the server reads the rest of the body before it answers
	}
	_ = connection.SetReadDeadline(time.Time{})
	body, err := encode(Single[Attachment]{attachmentOut(a)})
	if err != nil {
		return err
	}
	gate.Send(w, http.StatusOK, body)
	return nil
}

// shownInline are the media types that browsers show without running anything.
var shownInline = map[string]bool{"image/png": true, "image/jpeg": true, "image/gif": true, "image/webp": true, "application/pdf": true, "text/plain": true}

// giveContent sends the bytes of a file, or a range of them.
func (s *Server) giveContent(ctx context.Context, d *attachment.Depot, w http.ResponseWriter, r *http.Request) error {
	a, f, err := d.Content(ctx, pathValue(r, "id"))
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // only read
	if r.Method == http.MethodGet {
		if err := d.Downloaded(ctx, a); err != nil {
			return fmt.Errorf("record the download: %w", err)
		}
	}
	mediaType := a.MediaType
	if !shownInline[mediaType] {
		mediaType = "application/octet-stream"
	}
	if mediaType == "text/plain" {
		mediaType += "; charset=utf-8"
	}
	harmless(w.Header(), mediaType)
	w.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": a.Name}))
	w.Header().Set("ETag", `"`+a.Sha256+`"`)
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(patience(f.Size)))
	http.ServeContent(w, r, "", time.Time{}, io.NewSectionReader(f, 0, f.Size))
	return nil
}

// harmless sets the headers with which a browser runs nothing of what it gets, and no other site shows it.
func harmless(h http.Header, mediaType string) {
	h.Set("Content-Type", mediaType)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "sandbox; default-src 'none'")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "private, no-cache")
}

// givePreview sends a small picture of a picture.
func (s *Server) givePreview(ctx context.Context, d *attachment.Depot, w http.ResponseWriter, r *http.Request) error {
	size, err := strconv.Atoi(r.URL.Query().Get("size"))
	if r.URL.Query().Get("size") == "" {
		size, err = 320, nil
	}
	if err != nil {
		return apperr.InvalidField("size", "must be 320 or 1024")
	}
	ctx, cancel := context.WithTimeout(ctx, gate.MaxCall)
	defer cancel()
	picture, err := d.Preview(ctx, pathValue(r, "id"), size)
	if errors.Is(err, context.DeadlineExceeded) {
		return apperr.Busy(err)
	}
	if err != nil {
		return err
	}
	harmless(w.Header(), "image/jpeg")
	w.Header().Set("Cache-Control", "private, max-age=86400, immutable")
	gate.Send(w, http.StatusOK, picture)
	return nil
}

// addContent describes the endpoints of bytes.
func (d *document) addContent() {
	binary := map[string]*huma.MediaType{"application/octet-stream": {Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}}
	id := &huma.Param{Name: "id", In: "path", Required: true, Description: "The attachment's id.", Schema: &huma.Schema{Type: huma.TypeString}, Example: "att_01k9ye4ryzf7stj6dqnm8x2v3b"}
	of := slices.IndexFunc(routes, func(rt route) bool { return rt.op == attachment.Get.Info() })
	one := d.success(&routes[of])
	for _, o := range []*huma.Operation{
		{
			OperationID: "uploadAttachment", Method: http.MethodPut, Path: contentPath, Summary: attachment.Upload.Info().Summary,
			Description: "Sends the bytes of a file that POST /v1/attachments has announced, raw and exactly as many as announced. All are kept or none; " +
				"a call that broke off is repeated. At least 8 KiB a second.",
			Extensions: map[string]any{"x-scope": "requests:write"}, Parameters: []*huma.Param{id},
			RequestBody: &huma.RequestBody{Required: true, Description: "The bytes.", Content: binary},
			Responses:   map[string]*huma.Response{"200": one},
		}, {
			OperationID: "downloadAttachment", Method: http.MethodGet, Path: contentPath, Summary: "Get the bytes of a file",
			Description: "Takes Range, If-Range and If-None-Match. Images, PDF and text come with their own type, all else as application/octet-stream.",
			Extensions:  map[string]any{"x-scope": "requests:read"}, Parameters: []*huma.Param{id},
			Responses: map[string]*huma.Response{"200": {Description: "The bytes.", Headers: headerRefs("X-Request-Id"), Content: binary}},
		}, {
			OperationID: "previewAttachment", Method: http.MethodGet, Path: previewPath, Summary: "Get a small picture of an image",
			Description: "A JPEG. 404 for what is no PNG, JPEG, GIF or WebP, has more than 40 megapixels or 16,384 pixels a side, or takes more than 160 MB to read.",
			Extensions:  map[string]any{"x-scope": "requests:read"},
			Parameters: []*huma.Param{id, {
				Name: "size", In: "query", Description: "How many pixels its longer side has at most: 320 or 1024; 320 when not given.",
				Schema: &huma.Schema{Type: huma.TypeInteger, Enum: []any{320, 1024}}, Example: 320,
			}},
			Responses: map[string]*huma.Response{"200": {Description: "The picture.", Headers: headerRefs("X-Request-Id"), Content: map[string]*huma.MediaType{
				"image/jpeg": {Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}},
			}}},
		},
	} {
		o.Tags = []string{"Attachments"}
		scope, _ := o.Extensions["x-scope"].(string)
		o.Security = []map[string][]string{{"apiKey": {}}, {d.tokens(): {scope}}}
		d.put(o,
			http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusConflict,
			http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusServiceUnavailable,
		)
	}
}
