interface Span { from: string; to: string }

// spansOf reads "09:00-12:00, 13:00-17:30".
export const spansOf = (text: string): Span[] => text.split(',').map((s) => s.trim()).filter(Boolean).map((s) => {
  const [from = '', to = ''] = s.split(/\s*[-–]\s*/);
  return { from, to };
});
export const textOf = (spans: Span[] | null | undefined) => (spans ?? []).map((s) => `${s.from}-${s.to}`).join(', ');
