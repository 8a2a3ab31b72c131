import { type ComponentType, lazy } from 'react'
import type { IconName } from './parts/icon.tsx'
import { Overview } from './pages/overview/overview-page.tsx'

export interface Route {
  readonly path: string
  readonly page: ComponentType
  /** Entry in the navigation. Absent for pages that only other pages link to. */
  readonly nav?: { readonly group: 'Provide' | 'Consume' | 'Node'; readonly name: string; readonly icon: IconName }
  /** Navigation entry to highlight, if the path does not show it. */
  readonly under?: string
}

/** A page that is loaded when the user opens it. */
function later(load: () => Promise<ComponentType>): ComponentType {
  return lazy(async () => ({ default: await load() }))
}

/** All pages, in the order of the navigation. */
export const ROUTES: readonly Route[] = [
  { path: '/', page: Overview, nav: { group: 'Provide', name: 'Overview', icon: 'overview' } },
  {
    path: '/apis',
    page: later(async () => (await import('./pages/api/apis-page.tsx')).Apis),
    nav: { group: 'Provide', name: 'My APIs', icon: 'api' }
  },
  {
    path: '/register',
    page: later(async () => (await import('./pages/register/register-page.tsx')).Register),
    under: '/apis'
  },
  { path: '/apis/:name/:tab?', page: later(async () => (await import('./pages/api/api-page.tsx')).Api) },
  {
    path: '/keys',
    page: later(async () => (await import('./pages/keys/keys-page.tsx')).Keys),
    nav: { group: 'Provide', name: 'Consumers & keys', icon: 'key' }
  },
  {
    path: '/calls',
    page: later(async () => (await import('./pages/calls/calls-page.tsx')).Calls),
    nav: { group: 'Provide', name: 'Calls', icon: 'calls' }
  },
  {
    path: '/earnings',
    page: later(async () => (await import('./pages/earnings-page.tsx')).Earnings),
    nav: { group: 'Provide', name: 'Earnings', icon: 'money' }
  },
  {
    path: '/market',
    page: later(async () => (await import('./pages/market/market-page.tsx')).Market),
    nav: { group: 'Consume', name: 'Marketplace', icon: 'market' }
  },
  { path: '/market/:id/:tab?', page: later(async () => (await import('./pages/market/listing-page.tsx')).Listing) },
  {
    path: '/subscriptions',
    page: later(async () => (await import('./pages/subscriptions/subscriptions-page.tsx')).Subscriptions),
    nav: { group: 'Consume', name: 'My subscriptions', icon: 'subscription' }
  },
  {
    path: '/wallet',
    page: later(async () => (await import('./pages/wallet/wallet-page.tsx')).Wallet),
    nav: { group: 'Consume', name: 'Wallet', icon: 'wallet' }
  },
  {
    path: '/network',
    page: later(async () => (await import('./pages/network-page.tsx')).Network),
    nav: { group: 'Node', name: 'Network', icon: 'network' }
  },
  {
    path: '/settings',
    page: later(async () => (await import('./pages/settings/settings-page.tsx')).Settings),
    nav: { group: 'Node', name: 'Settings', icon: 'settings' }
  },
  {
    path: '/setup',
    page: later(async () => (await import('./pages/setup/setup-page.tsx')).Setup),
    nav: { group: 'Node', name: 'Set up', icon: 'play' }
  }
]
