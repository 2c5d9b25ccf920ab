// GraphiQL on the operators' listener. It has no rights of its own: what it sends carries the headers of the pane
// "Headers" and nothing else, no cookie included. It keeps nothing when it is closed, since headers and variables are
// secrets.
import { GraphiQL } from 'graphiql';
import { useEditorContext, useSchemaStore } from '@graphiql/react';
import { getOperationAST, parse } from 'graphql';
import { setNonce } from 'get-nonce';
import { createClient } from 'graphql-sse';
import { useEffect } from 'react';
import { createRoot } from 'react-dom/client';
import './page.css';

const url = '/graphql';
const hint = 'Paste a credential into the pane "Headers" below the operation.';

const query = `# Operations run as whoever the credential in the
# pane "Headers" belongs to: an API key as
# "X-Api-Key", or an access token, by
#
#   atrium token create --company C --user EMAIL
#
# Docs and completion are for admins and owners.

{
  viewer {
    name
    role
    company {
      name
      plan
    }
  }
}
`;

const credential = (headers = {}) =>
  Object.entries(headers).find(([name, value]) => /^(authorization|x-api-key)$/i.test(name) && !/^(bearer)?\s*$/i.test(value));

// subscribes tells whether an operation is a subscription. GraphiQL parses a moment after the last keystroke, so what it
// hands on may be the document before.
function subscribes({ query, operationName }) {
  try {
    return getOperationAST(parse(query), operationName)?.operation === 'subscription';
  } catch {
    return false; // the server says what is wrong with it
  }
}

// The fetcher runs queries and mutations in one exchange each, and subscriptions over server-sent events.
const fetcher = async (params, { headers } = {}) => {
  if (!credential(headers)) return { errors: [{ message: hint }] };
  if (subscribes(params)) {
    return createClient({ url, headers, credentials: 'omit', retryAttempts: 0 }).iterate(params);
  }
  const res = await fetch(url, {
    method: 'POST', credentials: 'omit', body: JSON.stringify(params),
    headers: { ...headers, 'Content-Type': 'application/json' },
  });
  return res.json();
};

// Introspection reads the schema anew when the headers have changed: before that there was nobody to read it for.
function Introspection() {
  const { introspect, schema } = useSchemaStore();
  const { headerEditor, responseEditor } = useEditorContext({ nonNull: true });
  useEffect(() => {
    if (schema && responseEditor?.getValue().includes(JSON.stringify(hint))) responseEditor.setValue('');
  }, [schema, responseEditor]);
  useEffect(() => {
    if (!headerEditor) return undefined;
    let timer;
    const changed = () => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        try {
          if (credential(JSON.parse(headerEditor.getValue()))) introspect();
        } catch {} // half typed
      }, 500);
    };
    headerEditor.on('change', changed);
    return () => {
      clearTimeout(timer);
      headerEditor.off('change', changed);
    };
  }, [headerEditor, introspect]);
  return null;
}

// A storage that is gone with the page.
const kept = new Map();
const storage = {
  getItem: (name) => kept.get(name) ?? null,
  setItem: (name, value) => kept.set(name, value),
  removeItem: (name) => kept.delete(name),
  clear: () => kept.clear(),
  get length() { return kept.size; },
};

// Dialogs keep the page from scrolling by a style sheet that a script makes: it takes the nonce of the page's policy.
setNonce(document.querySelector('script[nonce]').nonce);

createRoot(document.getElementById('graphiql')).render(
  <GraphiQL
    fetcher={fetcher} storage={storage} showPersistHeadersSettings={false} defaultEditorToolsVisibility="headers"
    defaultQuery={query} defaultHeaders={'{\n  "Authorization": "Bearer "\n}'}
  >
    <GraphiQL.Logo>Atrium</GraphiQL.Logo>
    <GraphiQL.Footer><Introspection /></GraphiQL.Footer>
  </GraphiQL>,
);
