import type { SurfaceOf } from '../http/route.ts'
import { accountRoutes } from './accounts/account-routes.ts'
import { apiRoutes, mappingRoutes } from './apis/api-routes.ts'
import { callRoutes } from './events/call-route.ts'
import { channelRoutes } from './money/channel-routes.ts'
import { disputeRoutes } from './money/dispute-routes.ts'
import { discoveryRoutes } from './apis/discovery-routes.ts'
import { descriptionRoutes, previewRoutes } from './apis/description-routes.ts'
import { eventRoutes } from './events/event-routes.ts'
import { keyRoutes } from './accounts/key-routes.ts'
import { marketRoutes } from './market/market-routes.ts'
import { metricsRoutes } from './events/metrics-route.ts'
import { balanceRoutes, moneyRoutes } from './money/money-routes.ts'
import { nodeRoutes } from './node/node-routes.ts'
import { planRoutes, termsRoutes } from './subscriptions/plan-routes.ts'
import { seriesRoutes } from './events/series-routes.ts'
import { sessionRoutes } from './sessions/session-routes.ts'
import { settingsRoutes } from './node/settings-routes.ts'
import { subscriberRoutes, subscriptionRoutes } from './subscriptions/subscription-routes.ts'
import { walletRoutes } from './money/wallet-routes.ts'
import { webhookRoutes } from './events/webhook-routes.ts'

/**
 * All routes of the admin API, by section of the reference page. The server, the reference page, the OpenAPI document and the
 * clients of the CLI and the console all use this table.
 */
export const ADMIN_ROUTES = {
  'The node': nodeRoutes,
  Browsers: sessionRoutes,
  'APIs served here': [...apiRoutes, ...termsRoutes, ...descriptionRoutes, ...discoveryRoutes],
  'Mappings of SOAP APIs': [...mappingRoutes, ...previewRoutes],
  'Plans and subscribers': [...planRoutes, ...subscriberRoutes],
  'Consumer keys and accounts': [...keyRoutes, ...accountRoutes],
  'The market': [...marketRoutes, ...callRoutes],
  'Subscriptions held here': subscriptionRoutes,
  Money: [...balanceRoutes, ...walletRoutes, ...moneyRoutes, ...channelRoutes, ...disputeRoutes],
  'What happens': [...eventRoutes, ...settingsRoutes, ...seriesRoutes, ...metricsRoutes, ...webhookRoutes]
} as const

/** Types of the admin API for its clients. */
export type AdminSurface = SurfaceOf<(typeof ADMIN_ROUTES)[keyof typeof ADMIN_ROUTES][number]>
