// Package clock is the product's time: the machine's UTC clock plus an offset that a development server may
// move forward. Times are cut to milliseconds, the resolution of the API.
package clock
