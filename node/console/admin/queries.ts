import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { ApiView, DoctorView, MappingView, PeerView, SessionView, StatusView } from '../../admin/api.ts'
import type { ChannelView, EarningsView, ReceiptsView, WalletView } from '../../admin/money-api.ts'
import type { MarketListingView, SearchView } from '../../admin/market-api.ts'
import type { SeriesInput, SeriesView } from '../../admin/series-api.ts'
import type { BrowserView, CaptureView, SettingsView } from '../../admin/settings-api.ts'
import type { CallLine, WebhookView } from '../../admin/webhook-api.ts'
import type { DescriptionView } from '../../admin/description-api.ts'
import type { KeysView } from '../../admin/key-api.ts'
import type { PlansView, SubscribersView, SubscriptionView } from '../../admin/subscription-api.ts'
import type { WalletCardView } from '../../admin/wallet-api.ts'
import { get } from './client.ts'

/** A receipt and its call are written down within a moment of each other. */
const RECEIPT_SPAN_MS = 10_000

/** What the console reads, one entry a resource. Keys start with the resource's name, so that an event can name what has changed. */
export const queries = {
  session: () => queryOptions({ queryKey: ['session'], queryFn: () => get<SessionView>('/session') }),
  status: () =>
    queryOptions({
      queryKey: ['status'],
      queryFn: ({ signal }) => get<StatusView>('/status', signal),
      refetchInterval: 5_000
    }),
  apis: () =>
    queryOptions({ queryKey: ['apis'], queryFn: ({ signal }) => get<{ apis: readonly ApiView[] }>('/apis', signal) }),
  api: (name: string) =>
    queryOptions({
      queryKey: ['apis', name],
      queryFn: ({ signal }) => get<ApiView>(`/apis/${encodeURIComponent(name)}`, signal)
    }),
  /** A member of the API, so that a change of it is one of this. */
  description: (name: string) =>
    queryOptions({
      queryKey: ['apis', name, 'description'],
      queryFn: ({ signal }) => get<DescriptionView>(`/apis/${encodeURIComponent(name)}/description`, signal)
    }),
  mapping: (name: string) =>
    queryOptions({
      queryKey: ['apis', name, 'mapping'],
      queryFn: ({ signal }) => get<MappingView>(`/apis/${encodeURIComponent(name)}/mapping`, signal)
    }),
  plans: (name: string) =>
    queryOptions({
      queryKey: ['apis', name, 'plans'],
      queryFn: ({ signal }) => get<PlansView>(`/apis/${encodeURIComponent(name)}/plans`, signal)
    }),
  subscribers: (api?: string) =>
    queryOptions({
      queryKey: ['subscribers', api],
      queryFn: ({ signal }) =>
        get<SubscribersView>(`/subscribers${api === undefined ? '' : `?${new URLSearchParams({ api })}`}`, signal)
    }),
  keys: () => queryOptions({ queryKey: ['keys'], queryFn: ({ signal }) => get<KeysView>('/keys', signal) }),
  peers: () =>
    queryOptions({
      queryKey: ['peers'],
      queryFn: ({ signal }) => get<{ peers: readonly PeerView[] }>('/peers', signal)
    }),
  doctor: () => queryOptions({ queryKey: ['doctor'], queryFn: ({ signal }) => get<DoctorView>('/doctor', signal) }),
  wallet: () => queryOptions({ queryKey: ['wallet'], queryFn: ({ signal }) => get<WalletView>('/wallet', signal) }),
  earnings: () =>
    queryOptions({ queryKey: ['earnings'], queryFn: ({ signal }) => get<EarningsView>('/earnings', signal) }),
  receipts: (role: 'payer' | 'owner', api?: string) =>
    queryOptions({
      queryKey: ['receipts', role, api],
      queryFn: ({ signal }) =>
        get<ReceiptsView>(
          `/receipts?${new URLSearchParams({ role, limit: '100', ...(api === undefined ? {} : { api }) })}`,
          signal
        )
    }),
  channels: () =>
    queryOptions({
      queryKey: ['channels'],
      queryFn: ({ signal }) => get<{ channels: readonly ChannelView[] }>('/channels', signal)
    }),
  series: (role: NonNullable<SeriesInput['role']>, spanMs: number) =>
    queryOptions({
      queryKey: ['series', role, spanMs],
      queryFn: ({ signal }) => get<SeriesView>(`/series?role=${role}&since=${Date.now() - spanMs}`, signal),
      refetchInterval: 30_000
    }),
  /** Of the reader's day. */
  today: (role: NonNullable<SeriesInput['role']>) =>
    queryOptions({
      queryKey: ['series', role, 'today'],
      queryFn: ({ signal }) => get<SeriesView>(`/series?role=${role}&since=${new Date().setHours(0, 0, 0, 0)}`, signal),
      refetchInterval: 60_000
    }),
  search: (query: Readonly<Record<string, string>>) =>
    queryOptions({
      queryKey: ['search', query],
      queryFn: ({ signal }) => get<SearchView>(`/search?${new URLSearchParams(query)}`, signal),
      placeholderData: keepPreviousData
    }),
  listing: (id: string) =>
    queryOptions({
      queryKey: ['listings', id],
      queryFn: ({ signal }) => get<MarketListingView>(`/listings/${encodeURIComponent(id)}`, signal)
    }),
  subscriptions: () =>
    queryOptions({
      queryKey: ['subscriptions'],
      queryFn: ({ signal }) => get<{ subscriptions: readonly SubscriptionView[] }>('/subscriptions', signal)
    }),
  walletCard: () =>
    queryOptions({
      queryKey: ['wallet', 'card'],
      queryFn: ({ signal }) => get<WalletCardView>('/wallet/card', signal)
    }),
  settings: () =>
    queryOptions({ queryKey: ['settings'], queryFn: ({ signal }) => get<SettingsView>('/settings', signal) }),
  browsers: () =>
    queryOptions({
      queryKey: ['browsers'],
      queryFn: ({ signal }) => get<{ sessions: readonly BrowserView[] }>('/sessions', signal)
    }),
  capture: (requestId: string) =>
    queryOptions({
      queryKey: ['captures', requestId],
      queryFn: ({ signal }) => get<CaptureView>(`/captures/${encodeURIComponent(requestId)}`, signal)
    }),
  /** Of one call, which ended about then. */
  receiptsOf: ({ role, api, timestamp }: Pick<CallLine, 'role' | 'api' | 'timestamp'>) => {
    const at = Date.parse(timestamp)
    const span = { since: String(at - RECEIPT_SPAN_MS), until: String(at + RECEIPT_SPAN_MS) }
    return queryOptions({
      queryKey: ['receipts', role, api, at],
      queryFn: ({ signal }) => get<ReceiptsView>(`/receipts?${new URLSearchParams({ role, api, ...span })}`, signal)
    })
  },
  webhooks: () =>
    queryOptions({
      queryKey: ['webhooks'],
      queryFn: ({ signal }) => get<{ webhooks: readonly WebhookView[] }>('/webhooks', signal)
    })
} as const

export type { ApiView, ChannelView, DoctorView, EarningsView, StatusView, WalletView }
