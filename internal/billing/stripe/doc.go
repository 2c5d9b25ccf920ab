// Package stripe charges companies by Stripe: it is a billing.Provider on stripe-go, and takes Stripe's webhooks.
//
// A payment is one payment intent, made and confirmed in one call with the payment's id as the idempotency key and in the
// metadata. Whatever is not final in the intent's state is cancelled at once, so that what the books call failed cannot succeed
// behind their back. Only a refusal of the card, or of the customer's or method's name, is a failure; any other error leaves the
// payment pending, and it is looked up before it is asked for again.
//
// Webhooks are verified by their signature and cause nothing but a look at the payment that they are about (Handler). Refunds
// and disputes on Stripe's side are not read: the operator notes what follows from them by credit notes.
//
// Stripe's key and the webhooks' secret are never logged, and neither are Stripe's errors as they come (public).
package stripe
