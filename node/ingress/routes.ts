import { accountMoneyRoutes } from './account-money-routes.ts'
import { accountRoutes } from './account-routes.ts'
import { apiCatalogRoutes } from './api-catalog.ts'
import { apisRoutes } from './apis.ts'
import { bazaarRoutes } from './bazaar.ts'
import { callRoutes } from './call-routes.ts'
import { frontPageRoutes } from './front-page.ts'
import { keyRoutes } from './key-routes.ts'
import { agentRoutes, nodeRoutes } from './node-routes.ts'
import { receiptRoutes } from './receipt-routes.ts'
import { subscriptionRoutes } from './subscription-routes.ts'
import type { IngressDeclaration } from './route.ts'

/**
 * Every route of an ingress, by the group that an ingress has or has not. The server's routes, the OpenAPI document, the reference page and
 * the header Allow come from this table.
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
  frontPage: frontPageRoutes,
  agents: agentRoutes,
  calls: callRoutes
} as const satisfies Readonly<Record<string, readonly IngressDeclaration[]>>
