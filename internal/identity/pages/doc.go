// Package pages renders the hosted pages: one layout with one stylesheet under one content security policy, and the guard that
// stands before their forms.
//
// Packages signin and account render their pages by a Layout of their own templates; the provider and websession render
// messages. Guard gives the browser a cookie, and FormToken derives what each form carries from it (CSRF); the cookie is
// renewed whenever somebody signs in or out, which makes the forms that were shown before worthless.
//
// It never knows who is signed in, and never shows an error's own text to a person.
package pages
