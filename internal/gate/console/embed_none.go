//go:build noconsole

package console

import "io/fs"

// bundle returns nil: this binary was built without the console.
func bundle() fs.FS { return nil }
