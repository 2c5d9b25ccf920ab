export type Theme = 'system' | 'light' | 'dark';

export const theme = (): Theme => (localStorage.getItem('theme') as Theme | null) ?? 'system';

// applyTheme sets the scheme that the person has chosen in this browser.
export function applyTheme(to: Theme = theme()): void {
  localStorage.setItem('theme', to);
  const root = globalThis.document.documentElement;
  if (to === 'system') root.removeAttribute('data-theme');
  else root.setAttribute('data-theme', to);
}
