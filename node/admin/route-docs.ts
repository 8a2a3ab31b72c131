import type { z } from 'zod'
import {
  callSchema,
  delegateSchema,
  mappingSchema,
  openAccountSchema,
  pinSchema,
  registerSchema,
  replicaSchema,
  sessionInputSchema
} from './api.ts'
import { backupSchema } from './backup-route.ts'
import { upstreamCallSchema, upstreamCheckSchema } from './description-api.ts'
import { issueKeySchema, rotateKeySchema } from './key-api.ts'
import { booksSchema, payoutSchema, receiptsSchema, withdrawSchema } from './money-api.ts'
import { searchSchema } from './market-api.ts'
import { seriesSchema } from './series-api.ts'
import { settingsSchema } from './settings-api.ts'
import {
  cancelSchema,
  deprecationSchema,
  planSchema,
  revisionSchema,
  subscribersSchema,
  subscribeSchema,
  subscriptionTermsSchema
} from './subscription-api.ts'
import { importWalletSchema, makeWalletSchema, playMoneySchema } from './wallet-api.ts'
import { addWebhookSchema } from './webhook-api.ts'

/** What is said of a route of the admin API. docs/reference/admin-api.md is made of it. */
export interface AdminRouteDoc {
  readonly summary: string
  /** Of the JSON that is sent. */
  readonly body?: z.ZodType
  readonly query?: z.ZodType
  /** Name of the type it answers with, or words for it. Default: nothing, 204. */
  readonly answer?: string
}

/** By what it is about, then by method and path below `/admin/v1`. A route that is not here fails a test. */
export const ADMIN_ROUTE_DOCS: Readonly<Record<string, Readonly<Record<string, AdminRouteDoc>>>> = {
  'The node': {
    'GET /status': { summary: 'What this node is and does.', answer: 'StatusView' },
    'GET /doctor': { summary: 'Checks the node and everything around it.', answer: 'DoctorView' },
    'GET /peers': { summary: 'Nodes connected to this one.', answer: '{ peers: PeerView[] }' },
    'GET /delegations': {
      summary: 'Nodes that may serve this provider’s APIs.',
      answer: '{ delegations: DelegationView[] }'
    },
    'POST /delegations': {
      summary: 'Lets another node serve this provider’s APIs.',
      body: delegateSchema,
      answer: 'DelegationView'
    },
    'PUT /payout': { summary: 'Where this provider is paid.', body: payoutSchema, answer: 'StatusView' },
    'PUT /pins/{name}': { summary: 'Lets a bare name mean one provider on this node.', body: pinSchema },
    'POST /backups': {
      summary: 'Copies everything the node keeps into a new directory of its machine, while it runs.',
      body: backupSchema,
      answer: 'ProfileBackup'
    }
  },
  Browsers: {
    'POST /setup-codes': { summary: 'Makes a code that lets one browser in, once.', answer: 'SetupCodeView' },
    'GET /session': { summary: 'Whether this browser was let in. Needs no token.', answer: 'SessionView' },
    'POST /session': {
      summary: 'Lets a browser in by a code: it gets the cookie. Needs no token.',
      body: sessionInputSchema
    },
    'DELETE /session': { summary: 'Lets a browser out again.' },
    'GET /sessions': { summary: 'Browsers that were let in.', answer: '{ sessions: BrowserView[] }' },
    'DELETE /sessions/{id}': { summary: 'Shows one of them out.' }
  },
  'APIs served here': {
    'GET /apis': { summary: 'All of them.', answer: '{ apis: ApiView[] }' },
    'POST /apis': {
      summary: 'Registers and publishes an API, after its endpoint was read; a name again makes a new revision.',
      body: registerSchema,
      answer: 'RegisteredView'
    },
    'POST /replicas': {
      summary: 'Serves another provider’s API from here too.',
      body: replicaSchema,
      answer: 'RegisteredView'
    },
    'GET /apis/{name}': { summary: 'One of them.', answer: 'ApiView' },
    'PATCH /apis/{name}': {
      summary: 'Changes its price and other terms; what is absent stays.',
      body: revisionSchema,
      answer: 'ApiView'
    },
    'DELETE /apis/{name}': { summary: 'Stops serving it and forgets it.' },
    'POST /apis/{name}/pause': { summary: 'Refuses its calls for now.', answer: 'ApiView' },
    'POST /apis/{name}/resume': { summary: 'Takes calls again.', answer: 'ApiView' },
    'POST /apis/{name}/deprecate': {
      summary: 'Gives notice that it ends.',
      body: deprecationSchema,
      answer: 'ApiView'
    },
    'POST /apis/{name}/retire': { summary: 'Ends it for good, after its sunset.', answer: 'ApiView' },
    'GET /apis/{name}/description': { summary: 'Its operations and their schemas.', answer: 'DescriptionView' },
    'POST /upstreams/check': {
      summary: 'Reads an API without registering it.',
      body: upstreamCheckSchema,
      answer: 'UpstreamCheckView'
    },
    'POST /upstreams/call': {
      summary: 'A test call of an API that need not be registered: not published, not charged, not counted.',
      body: upstreamCallSchema,
      answer: 'UpstreamCallView'
    }
  },
  'Mappings of SOAP APIs': {
    'GET /apis/{name}/mapping': { summary: 'The mapping, and the JSON Schema of mappings.', answer: 'MappingView' },
    'PUT /apis/{name}/mapping': {
      summary: 'Uses this one from now on: a new revision of the listing.',
      body: mappingSchema,
      answer: 'RegisteredView'
    },
    'POST /apis/{name}/mapping/check': {
      summary: 'Says what of a mapping does not fit, and changes nothing.',
      body: mappingSchema,
      answer: 'MappingCheckView'
    },
    'POST /apis/{name}/mapping/preview': {
      summary: 'The API as consumers would see it with a mapping.',
      body: mappingSchema,
      answer: 'MappingPreviewView'
    }
  },
  'Plans and subscribers': {
    'GET /apis/{name}/plans': { summary: 'Plans of an API served here.', answer: 'PlansView' },
    'PUT /apis/{name}/plans/{plan}': {
      summary: 'Offers a plan, or changes it.',
      body: planSchema,
      answer: 'PlansView'
    },
    'DELETE /apis/{name}/plans/{plan}': { summary: 'Offers it no longer.', answer: 'PlansView' },
    'GET /subscribers': {
      summary: 'Who has subscribed to APIs served here.',
      query: subscribersSchema,
      answer: 'SubscribersView'
    }
  },
  'Consumer keys and accounts': {
    'GET /keys': { summary: 'Keys of this node’s ingress, without the keys themselves.', answer: 'KeysView' },
    'POST /keys': {
      summary: 'Makes a key; it is shown this once.',
      body: issueKeySchema,
      answer: 'IssuedKeyView'
    },
    'GET /keys/{id}': { summary: 'One of them.', answer: 'KeyView' },
    'DELETE /keys/{id}': { summary: 'Revokes it.', answer: 'KeyView' },
    'POST /keys/{id}/rotate': {
      summary: 'Makes a key that takes its place; it works on for a while.',
      body: rotateKeySchema,
      answer: 'IssuedKeyView'
    },
    'POST /keys/{id}/disable': { summary: 'Refuses its calls until it is enabled.', answer: 'KeyView' },
    'POST /keys/{id}/enable': { summary: 'Lets it call again.', answer: 'KeyView' },
    'GET /accounts': { summary: 'Prepaid accounts, and what they come to.', answer: 'AccountsView' },
    'POST /accounts': {
      summary: 'Opens one, with a key that is shown this once.',
      body: openAccountSchema,
      answer: 'OpenedAccountView'
    },
    'GET /accounts/{id}': { summary: 'One of them.', answer: 'AccountView' }
  },
  'The market': {
    'GET /search': { summary: 'Finds APIs.', query: searchSchema, answer: 'SearchView' },
    'GET /listings/{id}': {
      summary: 'One API, looked up and verified: by `name@provider` or a bare name.',
      answer: 'MarketListingView'
    },
    'GET /why/{id}': { summary: 'Why an API is not found, or cannot be called.', answer: 'WhyView' },
    'POST /call': {
      summary: 'Calls an API, paid by this node.',
      body: callSchema,
      answer: 'lines of JSON: one head, any number of data, then end or error'
    },
    'POST /mcp': {
      summary:
        'The Model Context Protocol, for agents of whoever runs this node: `?api=` names the APIs, `?max_price=` the dearest call.',
      answer: 'JSON-RPC'
    }
  },
  'Subscriptions held here': {
    'GET /subscriptions': { summary: 'All of them.', answer: '{ subscriptions: SubscriptionView[] }' },
    'POST /subscriptions': {
      summary: 'Subscribes to a plan.',
      body: subscribeSchema,
      answer: 'SubscriptionChangeView'
    },
    'GET /subscriptions/{id}': { summary: 'One of them.', answer: 'SubscriptionView' },
    'PATCH /subscriptions/{id}': {
      summary: 'To another plan, or other limits; what is absent stays.',
      body: subscriptionTermsSchema,
      answer: 'SubscriptionChangeView'
    },
    'DELETE /subscriptions/{id}': {
      summary: 'Ends it with its period, or at once.',
      query: cancelSchema,
      answer: 'SubscriptionChangeView'
    },
    'POST /subscriptions/{id}/pause': {
      summary: 'No calls and no fees until it is resumed.',
      answer: 'SubscriptionChangeView'
    },
    'POST /subscriptions/{id}/resume': {
      summary: 'Takes back a pause, or a cancel whose time has not come.',
      answer: 'SubscriptionChangeView'
    },
    'POST /subscriptions/{id}/renew': {
      summary: 'Pays the next period, where the last one is over.',
      answer: 'SubscriptionChangeView'
    }
  },
  Money: {
    'GET /wallet': { summary: 'What is in the wallet; not what is in channels.', answer: 'WalletView' },
    'GET /wallet/card': {
      summary: 'The wallet on disk, whether the node runs with it or not.',
      answer: 'WalletCardView'
    },
    'POST /wallet': {
      summary: 'Makes a wallet where there is none; the node runs with it from its next start.',
      body: makeWalletSchema,
      answer: 'WalletCardView'
    },
    'POST /wallet/import': {
      summary: 'Takes over the key in another wallet’s key file, likewise.',
      body: importWalletSchema,
      answer: 'WalletCardView'
    },
    'GET /wallet/key-file': {
      summary: 'The key file, encrypted as it is, to be kept elsewhere.',
      answer: 'KeyFileView'
    },
    'POST /wallet/deposits': {
      summary: 'On the network dev: play USDC, and play ETH for gas.',
      body: playMoneySchema,
      answer: 'WalletCardView'
    },
    'POST /wallet/withdrawals': {
      summary: 'Sends USDC from the wallet; the same `id` again sends nothing twice.',
      body: withdrawSchema,
      answer: 'WithdrawalView'
    },
    'GET /earnings': { summary: 'What calls brought, and where it is.', answer: 'EarningsView' },
    'POST /settlements': {
      summary: 'Fetches what was earned, and pays it out: whether it is worth the gas or not.',
      answer: 'SettlementView'
    },
    'GET /receipts': {
      summary: 'Calls that were paid for; newest first.',
      query: receiptsSchema,
      answer: 'ReceiptsView'
    },
    'GET /books': {
      summary: 'Entries of the ledger, oldest first.',
      query: booksSchema,
      answer: 'BooksView'
    },
    'GET /channels': {
      summary: 'Channels that this node pays through, and is paid through.',
      answer: '{ channels: ChannelView[] }'
    },
    'POST /channels/close': { summary: 'Closes each one that this node pays through.', answer: 'ClosedChannelsView' },
    'POST /channels/{channel}/close': {
      summary: 'Closes one, with its owner: what was not spent comes back.',
      answer: 'ChannelView'
    },
    'POST /channels/{channel}/withdraw': {
      summary: 'Takes it out without the owner, after the channel’s delay.',
      answer: 'ChannelView'
    }
  },
  'What happens': {
    'GET /events': {
      summary:
        'Server-sent events: those that `types` names (`listing.*,key.revoked`) or all. `calls=1` adds each call as it ends, `recent=1` ' +
        'those that ended last. `Last-Event-ID` gets what was missed.',
      answer: 'TailItem, one an event'
    },
    'GET /settings': { summary: 'What is kept of calls, and for how long.', answer: 'SettingsView' },
    'PUT /settings': {
      summary: 'Keeps requests of calls made from here, to be made again; off at each start.',
      body: settingsSchema,
      answer: 'SettingsView'
    },
    'GET /captures/{id}': {
      summary: 'The request of a call, by its request id, where it was kept.',
      answer: 'CaptureView'
    },
    'GET /series': {
      summary: 'How calls went, in steps of time.',
      query: seriesSchema,
      answer: 'SeriesView'
    },
    'GET /metrics': {
      summary: 'Counters and gauges for a monitoring system: see [metrics](metrics.md).',
      answer: 'Prometheus’ text format'
    },
    'GET /webhooks': { summary: 'Webhooks, without their secrets.', answer: '{ webhooks: WebhookView[] }' },
    'POST /webhooks': {
      summary: 'Tells a URL of events; the secret is shown this once.',
      body: addWebhookSchema,
      answer: 'AddedWebhookView'
    },
    'DELETE /webhooks/{id}': { summary: 'Tells it nothing more.' },
    'POST /webhooks/{id}/rotate': { summary: 'Makes a new secret.', answer: 'AddedWebhookView' },
    'POST /webhooks/{id}/enable': { summary: 'Tells a disabled one again.', answer: 'WebhookView' },
    'POST /webhooks/{id}/test': { summary: 'Sends it one event now.', answer: 'WebhookTestView' }
  }
}
