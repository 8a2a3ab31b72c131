import { type ComponentType, lazy } from 'react'
import type { IconName } from './parts/icon.tsx'
import { Overview } from './pages/overview.tsx'

export interface Route {
  readonly path: string
  readonly page: ComponentType
  /** Where it stands in the navigation; absent for pages that one comes to from another. */
  readonly nav?: { readonly group: 'Provide' | 'Consume' | 'Node'; readonly name: string; readonly icon: IconName }
}

/** A page that is loaded when somebody comes to it. */
function later(load: () => Promise<ComponentType>): ComponentType {
  return lazy(async () => ({ default: await load() }))
}

/** All pages, in the order of the navigation. */
export const ROUTES: readonly Route[] = [
  { path: '/', page: Overview, nav: { group: 'Provide', name: 'Overview', icon: 'overview' } },
  {
    path: '/apis',
    page: later(async () => (await import('./pages/apis.tsx')).Apis),
    nav: { group: 'Provide', name: 'My APIs', icon: 'api' }
  },
  { path: '/register', page: later(async () => (await import('./pages/register/register.tsx')).Register) },
  { path: '/apis/:name/:tab?', page: later(async () => (await import('./pages/api/api.tsx')).Api) },
  {
    path: '/keys',
    page: later(async () => (await import('./pages/keys/keys.tsx')).Keys),
    nav: { group: 'Provide', name: 'Consumers & keys', icon: 'key' }
  },
  {
    path: '/network',
    page: later(async () => (await import('./pages/network.tsx')).Network),
    nav: { group: 'Node', name: 'Network', icon: 'network' }
  }
]
