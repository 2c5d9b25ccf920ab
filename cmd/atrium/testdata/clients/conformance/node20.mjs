// The suite is built for Node 22: it imports fs.globSync, which Node 20 does not have, for a command that nobody calls here.
import { register } from 'node:module';

const code = (source) => `data:text/javascript,${encodeURIComponent(source)}`;
const fs = code("export * from 'node:fs'; export const globSync = () => [];");
register(code(`export const resolve = (specifier, context, next) =>
  specifier === 'fs' && context.parentURL?.includes('/@modelcontextprotocol/conformance/')
    ? { url: ${JSON.stringify(fs)}, shortCircuit: true } : next(specifier, context);`));
