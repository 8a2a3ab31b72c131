import { QueryClientProvider } from '@tanstack/react-query'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from './app.tsx'
import { takeLinkCode } from './admin/link-code.ts'
import { createQueryClient } from './admin/query-client.ts'
import './style/tokens.css'
import './style/base.css'
import './style/shell.css'
import './style/controls.css'
import './style/parts.css'
import './style/pages.css'

const root = document.querySelector('#root')
if (root === null) throw new Error('The page has no place for the console.')
// Before the app reads the address.
const linkCode = takeLinkCode()
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={createQueryClient()}>
      <App linkCode={linkCode} />
    </QueryClientProvider>
  </StrictMode>
)
