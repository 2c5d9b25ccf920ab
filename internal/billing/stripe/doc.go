// Package stripe charges companies through Stripe: it implements billing.Provider with stripe-go, and receives Stripe's webhooks.
// The server uses it if a Stripe key is configured.
//
// A payment is one payment intent, created and confirmed in one call, with the payment's id as the idempotency key and in the
// metadata. An intent that is neither succeeded nor processing is cancelled at once, so that a payment that the books record as
// failed cannot succeed later. Only a refusal of the card, of the customer id or of the payment method id counts as a failure. After
// any other error the payment stays pending, and is looked up before it is tried again.
//
// Webhooks are verified by their signature and only cause a check of the payment that they name (Handler). The package does not
// read refunds and disputes on Stripe's side: the operator records their consequences as credit notes.
//
// Stripe's key and the webhook secret are never logged, nor are Stripe's original errors (public).
package stripe
