package graphiql

import (
	"bytes"
	"crypto/rand"
	"embed"
	"fmt"
	"html/template"
	"net/http"
	"strings"
	"time"
)

//go:generate ./build.sh

//go:embed dist/graphiql.js dist/graphiql.css dist/licences.txt
var files embed.FS

//go:embed page.html
var source string

var page = template.Must(template.New("page").Parse(source))

// Path is the path at which Handler must be mounted, with everything below it.
const Path = "/graphiql"

// assets are the files beside the page, with their types.
var assets = map[string]string{
	"/graphiql.js": "text/javascript; charset=utf-8", "/graphiql.css": "text/css; charset=utf-8", "/licences.txt": "text/plain; charset=utf-8",
}

// Handler answers GET with the page and its assets, and everything else with 404 or 405.
func Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, ours := strings.CutPrefix(r.URL.Path, Path)
		mediaType, asset := assets[name]
		switch {
		case !ours || !asset && name != "":
			http.NotFound(w, r)
			return
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "Use GET.", http.StatusMethodNotAllowed)
			return
		}
		nonce := rand.Text()
		protect(w.Header(), nonce)
		var content []byte
		var err error
		if asset {
			content, err = files.ReadFile("dist" + name)
		} else {
			mediaType = "text/html; charset=utf-8"
			var b bytes.Buffer
			err = page.Execute(&b, nonce)
			content = b.Bytes()
		}
		if err != nil {
			http.Error(w, "The page cannot be shown.", http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", mediaType)
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
	})
}

// protect sets the security headers of the page: it may load only its own script and stylesheet, send only to its own origin, and
// not be framed. The nonce is for the one stylesheet that GraphiQL's dialogs create by script.
func protect(h http.Header, nonce string) {
	h.Set("Content-Security-Policy", fmt.Sprintf("default-src 'none'; script-src 'self'; style-src 'self' 'nonce-%s'; img-src 'self' data:; "+
		"connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'", nonce))
	h.Set("X-Frame-Options", "DENY")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
}
