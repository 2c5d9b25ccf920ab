// Package clock is the product's time: the machine's UTC clock plus an offset, which only a development server moves forward.
// Times are truncated to milliseconds, the resolution of the API. Code below the APIs takes the clock from the context (From).
// The package never moves the offset itself.
package clock
