// Package events says which events there are and what subscribers are told with each. Domain packages name them when
// they emit, webhooks deliver them, and the AsyncAPI document is made from the same types, so that what is sent and
// what is documented cannot differ. A leaf: it imports nothing of the product and knows neither rows nor transport.
package events
