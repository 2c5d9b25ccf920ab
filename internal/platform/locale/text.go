package locale

import (
	"strings"
	"time"
)

// Text is a sentence or a word in no language yet. A Printer puts it into one. The zero value is the empty text.
type Text struct {
	key  string
	one  string // English for exactly one; empty for a text without plural
	n    int    // what decides the plural
	raw  bool   // key is shown as it is
	args []any
}

// Say returns a text: its English, with fmt's verbs for the arguments. Arguments may be Texts, a time.Time, a Date, Cents or Tenths, which %s
// shows in the reader's language. key is a constant: a test compares the constants with the catalogues.
func Say(key string, args ...any) Text { return Text{key: key, args: args} }

// Count is Say for a text whose form depends on n. one is the English for 1, many for every other number and the key.
func Count(n int, one, many string, args ...any) Text {
	return Text{key: many, one: one, n: n, args: args}
}

// Raw returns a text that is the same in every language, such as a name or an address.
func Raw(s string) Text { return Text{key: s, raw: true} }

// Lines returns texts one below the other, in one language.
func Lines(texts ...Text) Text {
	args := make([]any, len(texts))
	for i, t := range texts {
		args[i] = t
	}
	return Text{key: strings.TrimSuffix(strings.Repeat("%s\n", len(texts)), "\n"), args: args}
}

// Known returns the text of a message that the APIs give in English: translated if a catalogue has it, else as it is. Whoever shows
// such messages lists them by Say.
func Known(message string) Text { return Text{key: message} }

// Empty reports whether there is no text.
func (t Text) Empty() bool { return t.key == "" }

// Date is the day of a time, as an argument of a text.
type Date time.Time

// Cents is an amount of US dollars, as an argument of a text.
type Cents int64

// Tenths is a number of which one digit after the point is read, as an argument of a text.
type Tenths float64
