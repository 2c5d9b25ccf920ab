package console

import (
	"bytes"
	"compress/gzip"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"os"
	"path"
	"strings"
	"time"
)

//go:generate ./build.sh

// Path is the path at which to mount Console, with everything below it.
const Path = "/app"

// At returns the address of the pages on a server; empty for an unknown server, and in a binary that was built without them.
func At(baseURL string) string {
	if baseURL == "" || bundle() == nil {
		return ""
	}
	return strings.TrimRight(baseURL, "/") + Path
}

// Options configure the console.
type Options struct {
	Dir     string // read the files from this folder for every call instead of the bundle; for development
	BaseURL string
	AuthURL string
	Version string
}

// Console is the http.Handler of the pages. Safe for concurrent use.
type Console struct {
	options Options
	files   fs.FS
	index   *template.Template
	assets  map[string]asset // by name within dist
}

// asset is a file, ready to send.
type asset struct {
	content, compressed []byte // compressed is nil when gzip does not make it smaller
	mediaType, etag     string
}

// New reads the bundle. Returns nil without an error when the binary was built without one.
func New(o Options) (*Console, error) {
	c := &Console{options: o, files: bundle()}
	if o.Dir != "" {
		c.files = os.DirFS(o.Dir)
	}
	if c.files == nil {
		return nil, nil
	}
	if err := c.load(); err != nil {
		return nil, fmt.Errorf("read the console's files: %w", err)
	}
	return c, nil
}

// Documents returns the manifest of the GraphQL documents that the pages run.
func (c *Console) Documents() ([]byte, error) {
	b, err := fs.ReadFile(c.files, "documents.json")
	if err != nil {
		return nil, fmt.Errorf("read the console's documents: %w", err)
	}
	return b, nil
}

func (c *Console) load() error {
	source, err := fs.ReadFile(c.files, "index.html")
	if err != nil {
		return err
	}
	if c.index, err = template.New("index").Parse(string(source)); err != nil {
		return err
	}
	c.assets = map[string]asset{}
	return fs.WalkDir(c.files, "assets", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := fs.ReadFile(c.files, name)
		if err == nil {
			c.assets[name], err = newAsset(name, content)
		}
		return err
	})
}

// mediaTypes covers the files that a build makes. The operating system's table differs between machines.
var mediaTypes = map[string]string{
	".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml", ".txt": "text/plain; charset=utf-8",
}

func newAsset(name string, content []byte) (asset, error) {
	sum := sha256.Sum256(content)
	a := asset{content: content, mediaType: mediaTypes[path.Ext(name)], etag: `"` + hex.EncodeToString(sum[:12]) + `"`}
	if a.mediaType == "" {
		a.mediaType = "application/octet-stream"
	}
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return a, err
	}
	if _, err = w.Write(content); err != nil {
		return a, err
	}
	if err = w.Close(); err != nil {
		return a, err
	}
	if b.Len() < len(content) {
		a.compressed = b.Bytes()
	}
	return a, nil
}

// ServeHTTP answers GET and HEAD with the index or an asset, and redirects / to the index.
func (c *Console) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	protect(w.Header())
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "Use GET.", http.StatusMethodNotAllowed)
		return
	}
	if r.URL.Path == "/" {
		w.Header().Set("Cache-Control", "no-store")
		http.Redirect(w, r, Path, http.StatusSeeOther)
		return
	}
	if c.options.Dir != "" {
		fresh, err := New(c.options)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		c = fresh
	}
	name := strings.TrimPrefix(strings.TrimPrefix(r.URL.Path, Path), "/")
	if name == "licences.txt" || strings.HasPrefix(name, "assets/") {
		c.asset(w, r, name)
		return
	}
	c.page(w, r)
}

func (c *Console) asset(w http.ResponseWriter, r *http.Request, name string) {
	a, ok := c.assets[name]
	if name == "licences.txt" {
		content, err := fs.ReadFile(c.files, name)
		a, ok = asset{content: content, mediaType: mediaTypes[".txt"]}, err == nil
	}
	if !ok {
		w.Header().Set("Cache-Control", "no-store")
		http.NotFound(w, r)
		return
	}
	h := w.Header()
	h.Set("Content-Type", a.mediaType)
	h.Set("Vary", "Accept-Encoding")
	if a.etag != "" {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
		h.Set("ETag", a.etag)
	}
	content := a.content
	if a.compressed != nil && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
		h.Set("ETag", strings.TrimSuffix(a.etag, `"`)+`-gzip"`)
		content = a.compressed
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
}

// page answers with the index. Its script shows the page that the address names.
func (c *Console) page(w http.ResponseWriter, r *http.Request) {
	nonce := rand.Text()
	config, err := json.Marshal(map[string]string{"baseUrl": c.options.BaseURL, "authUrl": c.options.AuthURL, "version": c.options.Version})
	var b bytes.Buffer
	if err == nil {
		err = c.index.Execute(&b, map[string]string{"Nonce": nonce, "Config": string(config)})
	}
	if err != nil {
		http.Error(w, "The page cannot be shown.", http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Security-Policy", strings.Replace(policy, "'self' 'nonce-'", "'self' 'nonce-"+nonce+"'", 1))
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Type", "text/html; charset=utf-8")
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(b.Bytes()))
}

// policy lets a page load from and send to its own origin only, and keeps scripts from turning text into HTML.
const policy = "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-'; img-src 'self' data:; connect-src 'self'; " +
	"font-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

func protect(h http.Header) {
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Permissions-Policy", "accelerometer=(), camera=(), display-capture=(), geolocation=(), gyroscope=(), microphone=(), payment=(), usb=()")
}
