// Package pages renders the hosted pages with one layout and stylesheet under one content security policy, and protects their
// forms.
//
// Packages signin and account render their pages with a Layout over their own templates; the provider and websession render
// messages. Guard sets a cookie, and FormToken derives each form's token from it (CSRF). The cookie is renewed whenever
// somebody signs in or out, which invalidates all forms shown before.
//
// Each page is parsed once per language, with the functions of package locale. The texts of a page are locale.Texts, which Render puts
// into the reader's language.
//
// The package does not know who is signed in, and never shows an error's text to a person.
package pages
