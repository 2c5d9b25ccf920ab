//go:build !noconsole

package console

import (
	"embed"
	"io/fs"
)

//go:embed all:dist
var embedded embed.FS

// bundle returns the committed bundle.
func bundle() fs.FS {
	sub, err := fs.Sub(embedded, "dist")
	if err != nil {
		panic(err) // cannot happen: the name is a valid constant
	}
	return sub
}
