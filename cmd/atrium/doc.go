// Command atrium is the server and its command line. main.go lists the commands; each has a file of its own.
//
// wire.go calls every constructor by hand, in the order in which things are built: open makes what all commands work on,
// the operations' engine last, whose fields are set there and nowhere else; build adds what serve runs, and wire_api.go
// the part of it that a node with an API has. What runs is a list of parts: package run starts them in that order and
// stops them in the opposite one. listen.go, data.go, masterkey.go and setting.go have what a server or a command finds
// out before it can build something: addresses, folders, keys, and the installation's settings.
//
// The package holds no rule of the product: a command runs an operation as the operator (principal.Operator), within a
// company, and so is decided about and audited like any other caller.
package main
