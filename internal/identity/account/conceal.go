package account

import "regexp"

// permits are the links of mails whose token is a permission of their reader's, for which nobody signs in.
var permits = regexp.MustCompile(`((?:` + pathRate + `|` + pathUnsubscribe + `)\?token=)[\w-]+`)

// Conceal takes the permissions out of a text that quotes a mail of ours and that others will read: they could rate a request, or end mails,
// in the name of whoever got it.
func Conceal(text string) string { return permits.ReplaceAllString(text, "${1}…") }
