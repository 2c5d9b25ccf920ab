import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { Provider } from 'urql';
import { listen } from '../keys/registry';
import { keepFocus } from '../ui/focus';
import '../ui/tokens.css';
import '../ui/base.css';
import '../ui/shell.css';
import '../ui/parts.css';
import '../ui/request.css';
import '../ui/portal.css';
import { ViewerOf } from '../gen/documents';
import { client } from './client';
import { prefetch } from './data';
import { router } from './router';
import { applyTheme } from './theme';

applyTheme();
listen();
keepFocus();
prefetch(ViewerOf, {}); // and the router asks for the page's rows at the same moment: nothing waits for an answer to ask the next thing
const root = globalThis.document.getElementById('root');
if (root) createRoot(root).render(<StrictMode><Provider value={client}><RouterProvider router={router} /></Provider></StrictMode>);
