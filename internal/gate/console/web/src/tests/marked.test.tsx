import { renderToStaticMarkup } from 'react-dom/server';
import { expect, test } from 'vitest';
import { Marked } from '../ui/marked';

test('marks count code points, so that an emoji is one', () => {
  expect(renderToStaticMarkup(<Marked text="🖨 Printer of Zoë" marks={[{ start: 2, end: 9 }, { start: 13, end: 16 }]} />)).toBe('🖨 <mark class="word">Printer</mark> of <mark class="word">Zoë</mark>');
});
