import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

const server = process.env.ATRIUM ?? 'https://127.0.0.1:8443';
const proxied = { target: server, secure: false, changeOrigin: true };

export default defineConfig({
  base: '/app/',
  plugins: [react()],
  // documents.json is written to public/ by gen.mjs, and so comes into dist as it is.
  build: {
    target: 'es2022', modulePreload: { polyfill: false }, assetsInlineLimit: 0, cssCodeSplit: false, sourcemap: false, reportCompressedSize: true,
    // Few files before the first row: what every page needs is one, and what the inbox needs is another. A request's own page comes later.
    rolldownOptions: { output: { codeSplitting: { groups: [
      { name: 'requests', test: /src\/pages\/requests\/(acts|batches|beside|bulk|columns|counts|filters|inbox|picked|row|table|verbs)\./, priority: 1 },
      { name: 'base', test: /src\/(app\/|parts\/choices|ui\/(?!chart|ticks|csv|formfields|rowlist|minutes))|src\/gen\/(documents|cache|enums|of\/(app|catalogue|parts|requests)\.)|src\/keys\/registry|pages\/requests\/search|node_modules\/(?!@ariakit)/, priority: 2 },
    ] } } },
  },
  server: { proxy: { '/graphql': proxied, '/login': proxied, '/logout': proxied, '/signin': proxied, '/v1': proxied } },
});
