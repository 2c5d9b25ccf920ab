// config is what the server tells the pages: addresses and the version, nothing of any company.
export const config: { baseUrl: string; authUrl: string; version: string } = (() => {
  const text = globalThis.document.querySelector('meta[name=atrium]')?.getAttribute('content') ?? '';
  try {
    return JSON.parse(text);
  } catch { // Vite's development server renders no template
    return { baseUrl: location.origin, authUrl: location.origin, version: 'development' };
  }
})();
