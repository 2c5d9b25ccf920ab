// Fills forms with the answer of a passkey. A form says in data-passkey whether one is to be made ("create") or used
// ("get"), and in data-options for which challenge. Nothing is sent but the form itself.
"use strict";

const bytes = (text) => Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (c) => c.charCodeAt(0));

const text = (buffer) => {
  let binary = "";
  for (const byte of new Uint8Array(buffer)) binary += String.fromCharCode(byte);
  return btoa(binary).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
};

const descriptors = (list) => (list || []).map((d) => ({ ...d, id: bytes(d.id) }));

function options(form) {
  const o = JSON.parse(form.dataset.options);
  o.challenge = bytes(o.challenge);
  if (o.user) o.user.id = bytes(o.user.id);
  if (o.excludeCredentials) o.excludeCredentials = descriptors(o.excludeCredentials);
  if (o.allowCredentials) o.allowCredentials = descriptors(o.allowCredentials);
  return o;
}

function answer(credential) {
  const r = credential.response;
  const out = { id: credential.id, rawId: text(credential.rawId), type: credential.type, clientExtensionResults: {}, response: { clientDataJSON: text(r.clientDataJSON) } };
  if (credential.authenticatorAttachment) out.authenticatorAttachment = credential.authenticatorAttachment;
  if (r.attestationObject) {
    out.response.attestationObject = text(r.attestationObject);
    out.response.transports = r.getTransports ? r.getTransports() : [];
  } else {
    out.response.authenticatorData = text(r.authenticatorData);
    out.response.signature = text(r.signature);
    if (r.userHandle && r.userHandle.byteLength) out.response.userHandle = text(r.userHandle);
  }
  return JSON.stringify(out);
}

async function ask(form) {
  const publicKey = options(form);
  return form.dataset.passkey === "create" ? navigator.credentials.create({ publicKey }) : navigator.credentials.get({ publicKey });
}

if (window.PublicKeyCredential && navigator.credentials) {
  for (const block of document.querySelectorAll("[data-passkey-block]")) block.hidden = false;
  for (const note of document.querySelectorAll("[data-passkey-note]")) note.hidden = true;
  for (const form of document.querySelectorAll("form[data-passkey]")) {
    const fault = form.querySelector("[data-passkey-fault]");
    const button = form.querySelector("button");
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      button.disabled = true;
      fault.hidden = true;
      try {
        form.elements.credential.value = answer(await ask(form));
        form.submit();
      } catch {
        button.disabled = false;
        fault.hidden = false;
      }
    });
  }
}
