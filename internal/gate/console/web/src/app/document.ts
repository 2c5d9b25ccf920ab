import type { TypedDocumentNode } from '@urql/core';

// texts are the documents by their names, exactly as the server's manifest of trusted documents has them.
export const texts = new Map<string, string>();

// document notes a text under its name. urql parses it when it is first used.
export function document<D, V extends object>(text: string): TypedDocumentNode<D, V> {
  texts.set(/ (\w+)/.exec(text)?.[1] ?? '', text);
  return text as unknown as TypedDocumentNode<D, V>;
}
