// fold returns a text as the server's searches compare it: without case, accents and other marks, in every script.
export const fold = (text: string): string => text.normalize('NFKD').replace(/\p{M}/gu, '').toUpperCase().toLowerCase().replaceAll('ς', 'σ');

// finds reports whether a text has all words of a query, or pieces of words.
export const finds = (text: string, query: string): boolean => {
  const all = fold(text);
  return fold(query).split(/\s+/).every((word) => all.includes(word));
};
