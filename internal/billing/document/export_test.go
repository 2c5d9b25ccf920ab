package document

import "net/http"

// Unguarded returns the handler without authentication.
func Unguarded(o Options) http.Handler { return o.routes() }
