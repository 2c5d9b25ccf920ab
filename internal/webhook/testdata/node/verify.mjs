// Verifies what was delivered with two libraries that know nothing of this product. Reads a JSON list of {name, secret,
// headers, body} on standard input and prints a list of {name, standardwebhooks, svix}: "ok", or what the library said.
import { readFileSync } from "node:fs";
import { Webhook as Standard } from "standardwebhooks";
import { Webhook as Svix } from "svix";

const verified = (Webhook, { secret, headers, body }) => {
  try {
    const payload = new Webhook(secret).verify(body, headers);
    return payload && JSON.stringify(payload) === JSON.stringify(JSON.parse(body)) ? "ok" : "another payload";
  } catch (error) {
    return String(error);
  }
};

const messages = JSON.parse(readFileSync(0, "utf8"));
console.log(JSON.stringify(messages.map((m) => ({
  name: m.name, standardwebhooks: verified(Standard, m), svix: verified(Svix, m),
}))));
