// Package locale holds the languages and time zones of people: which languages ship, their catalogues, and texts that are put into a
// reader's language as late as possible.
//
//	locale.go    the languages, matching what a browser or a client asks for, zones
//	text.go      Text: a sentence with its arguments, not yet in any language
//	printer.go   Printer: texts, dates, times and money for one reader
//	template.go  the functions t and count of templates
//	de.json      the German catalogue: the English text, and the German one
//
// The English text is the key. So code reads as what people see, and a text without a translation shows English:
//
//	locale.Say("%s answered your request.", name)
//	locale.Count(n, "%d notification", "%d notifications", n)
//	{{t "Continue as %s" .Email}}
//
// A text whose form depends on a number has an object by CLDR's plural categories in the catalogue: {"one": …, "other": …}. Its key is
// the English plural. A translation takes arguments in another order by %[2]s. A test (catalogue_test.go) walks the code and the
// templates, and fails for a text that a catalogue lacks, for one that nobody says, and for other placeholders than the English ones.
//
// This is not golang.org/x/text/message, which was considered: it cannot tell whether a catalogue has a text, it groups the digits of
// every number (of invoices and codes, too), and its extraction does not read templates. Its rules of plurals and its matching of
// languages are used.
//
// The answers of the APIs, their errors included, are English. The web console has catalogues of its own. The package knows no
// people: op.ReaderOf and people.ReaderOfAccount choose whose language it is.
package locale
