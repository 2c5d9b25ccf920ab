package document

import "net/http"

// Unguarded is the handler behind the guard.
func Unguarded(o Options) http.Handler { return o.routes() }
