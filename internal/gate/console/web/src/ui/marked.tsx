import type { ReactNode } from 'react';

interface Props { text: string; marks: readonly { start: number; end: number }[] }

// Marked is a text with the words that were found in it. Marks count code points.
export function Marked({ text, marks }: Props) {
  const characters = Array.from(text);
  const parts: ReactNode[] = [];
  let at = 0;
  for (const { start, end } of marks) {
    parts.push(characters.slice(at, start).join(''), <mark key={start} className="word">{characters.slice(start, end).join('')}</mark>);
    at = end;
  }
  return <>{parts}{characters.slice(at).join('')}</>;
}
