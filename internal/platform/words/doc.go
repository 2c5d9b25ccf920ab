// Package words makes words of texts and of what people search for, alike for both databases: neither of them splits or folds anything.
//
//	fold.go      one spelling of a word: NFKD without marks, Unicode's case folding
//	split.go     the words of a text, with their places
//	document.go  what is stored of a row that can be found, and whether a term is in it
//	query.go     what people write into a search box
//	mark.go      where its words stand in a text
//
// A word is a run of letters, digits and marks. Words that a single @ . _ - / : + & or apostrophe joins are a compound, such as an e-mail
// address, a date or the id of a device: each run of two to four of its words is a token of its own, in which a hyphen stands for whatever
// joins them. So anna.osei@example.com is found by anna, by osei@example.com and by example.com. Scripts that put no spaces between words
// (Han, kana, Hangul, Thai and some others) come in pairs of characters.
//
// A token has at most 64 characters and a document 4,000 tokens; what is longer is cut. Whoever changes what a text comes to raises
// Version, and every document is written anew.
//
// The package knows no rows and no rights.
package words

// Version is that of the tokens: documents of another one are written anew.
const Version = 1

const (
	maxToken  = 64    // characters of a token
	maxTokens = 4_000 // tokens of a document
	maxRun    = 4     // words of a compound that make a token together
)
