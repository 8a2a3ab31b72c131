import { accountMoneyRoutes } from './accounts/account-money-routes.ts'
import { accountRoutes } from './accounts/account-routes.ts'
import { apiCatalogRoutes } from './discovery/api-catalog.ts'
import { apisRoutes } from './discovery/apis.ts'
import { bazaarRoutes } from './discovery/bazaar.ts'
import { callRoutes } from './call-routes.ts'
import { frontPageRoutes } from './front-page/front-page.ts'
import { keyRoutes } from './accounts/key-routes.ts'
import { agentRoutes, nodeRoutes } from './node-routes.ts'
import { receiptRoutes } from './accounts/receipt-routes.ts'
import { subscriptionRoutes } from './accounts/subscription-routes.ts'
import { ticketRoutes } from './calls/ticket-routes.ts'
import { wellKnownRoutes } from './discovery/well-known.ts'
import type { IngressDeclaration } from './route.ts'

/**
 * Every route of an ingress, in groups that an ingress may leave out. The server, the OpenAPI document, the reference page and the Allow
 * header all use this table.
 */
export const INGRESS_ROUTES = {
  node: nodeRoutes,
  account: accountRoutes,
  keys: keyRoutes,
  receipts: receiptRoutes,
  accountMoney: accountMoneyRoutes,
  subscriptions: subscriptionRoutes,
  apis: apisRoutes,
  apiCatalog: apiCatalogRoutes,
  bazaar: bazaarRoutes,
  wellKnown: wellKnownRoutes,
  frontPage: frontPageRoutes,
  agents: agentRoutes,
  tickets: ticketRoutes,
  calls: callRoutes
} as const satisfies Readonly<Record<string, readonly IngressDeclaration[]>>
