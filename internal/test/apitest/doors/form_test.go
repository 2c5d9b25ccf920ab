package doors

import "atrium/internal/desk/form"

// oneField is a form with one field that takes a number.
var oneField = form.Definition{Fields: []form.Field{{Key: "size", Label: "Size", Type: form.Number, Required: true}}}
