import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { ApiView, DoctorView, StatusView } from '../../admin/api.ts'
import type { ChannelView, EarningsView, WalletView } from '../../admin/money/money-api.ts'
import type { SeriesInput } from '../../admin/events/series-api.ts'
import type { CallLine } from '../../admin/events/webhook-api.ts'
import { request } from './client.ts'

/** Largest time between a call's start or end and its receipt's. */
const RECEIPT_SPAN_MS = 10_000

/** Queries of the console, one entry per resource. Keys start with the resource's name, so that events can invalidate them. */
export const queries = {
  session: () => queryOptions({ queryKey: ['session'], queryFn: () => request('GET /session') }),
  status: () =>
    queryOptions({
      queryKey: ['status'],
      queryFn: ({ signal }) => request('GET /status', { signal }),
      refetchInterval: 5_000
    }),
  apis: () => queryOptions({ queryKey: ['apis'], queryFn: ({ signal }) => request('GET /apis', { signal }) }),
  api: (name: string) =>
    queryOptions({
      queryKey: ['apis', name],
      queryFn: ({ signal }) => request('GET /apis/:name', { params: { name }, signal })
    }),
  /** The key starts with the API's key, so that a change of the API invalidates its description. */
  description: (name: string) =>
    queryOptions({
      queryKey: ['apis', name, 'description'],
      queryFn: ({ signal }) => request('GET /apis/:name/description', { params: { name }, signal })
    }),
  mapping: (name: string) =>
    queryOptions({
      queryKey: ['apis', name, 'mapping'],
      queryFn: ({ signal }) => request('GET /apis/:name/mapping', { params: { name }, signal })
    }),
  plans: (name: string) =>
    queryOptions({
      queryKey: ['apis', name, 'plans'],
      queryFn: ({ signal }) => request('GET /apis/:name/plans', { params: { name }, signal })
    }),
  subscribers: (api?: string) =>
    queryOptions({
      queryKey: ['subscribers', api],
      queryFn: ({ signal }) => request('GET /subscribers', { query: { api }, signal })
    }),
  keys: (cursor?: string) =>
    queryOptions({
      queryKey: ['keys', cursor],
      queryFn: ({ signal }) => request('GET /keys', { query: { cursor, limit: 100 }, signal })
    }),
  peers: () =>
    queryOptions({
      queryKey: ['peers'],
      queryFn: ({ signal }) => request('GET /peers', { signal })
    }),
  doctor: () => queryOptions({ queryKey: ['doctor'], queryFn: ({ signal }) => request('GET /doctor', { signal }) }),
  wallet: () => queryOptions({ queryKey: ['wallet'], queryFn: ({ signal }) => request('GET /wallet', { signal }) }),
  earnings: () =>
    queryOptions({ queryKey: ['earnings'], queryFn: ({ signal }) => request('GET /earnings', { signal }) }),
  receipts: (role: 'payer' | 'owner', api?: string) =>
    queryOptions({
      queryKey: ['receipts', role, api],
      queryFn: ({ signal }) => request('GET /receipts', { query: { role, api, limit: 100 }, signal })
    }),
  channels: () =>
    queryOptions({
      queryKey: ['channels'],
      queryFn: ({ signal }) => request('GET /channels', { signal })
    }),
  series: (role: NonNullable<SeriesInput['role']>, spanMs: number) =>
    queryOptions({
      queryKey: ['series', role, spanMs],
      queryFn: ({ signal }) => request('GET /series', { query: { role, since: Date.now() - spanMs }, signal }),
      refetchInterval: 30_000
    }),
  /** Series since midnight in the user's time zone. */
  today: (role: NonNullable<SeriesInput['role']>) =>
    queryOptions({
      queryKey: ['series', role, 'today'],
      queryFn: ({ signal }) =>
        request('GET /series', { query: { role, since: new Date().setHours(0, 0, 0, 0) }, signal }),
      refetchInterval: 60_000
    }),
  /** Pages of results, each from where the last one ended. */
  search: (query: Readonly<Record<string, string>>) =>
    infiniteQueryOptions({
      queryKey: ['search', query],
      queryFn: ({ pageParam, signal }) =>
        request('GET /search', { query: { ...query, ...pageParam, limit: 25 }, signal }),
      initialPageParam: {},
      getNextPageParam: ({ next }) => (next === null ? undefined : { cursor: next }),
      placeholderData: keepPreviousData
    }),
  listing: (id: string) =>
    queryOptions({
      queryKey: ['listings', id],
      queryFn: ({ signal }) => request('GET /listings/:id', { params: { id }, signal })
    }),
  listedOperation: (id: string, operation: string) =>
    queryOptions({
      queryKey: ['listings', id, operation],
      queryFn: ({ signal }) =>
        request('GET /listings/:id/operations/:operation', { params: { id, operation }, signal }),
      enabled: operation !== ''
    }),
  subscriptions: () =>
    queryOptions({
      queryKey: ['subscriptions'],
      queryFn: ({ signal }) => request('GET /subscriptions', { signal })
    }),
  walletCard: () =>
    queryOptions({
      queryKey: ['wallet', 'card'],
      queryFn: ({ signal }) => request('GET /wallet/card', { signal })
    }),
  settings: () =>
    queryOptions({ queryKey: ['settings'], queryFn: ({ signal }) => request('GET /settings', { signal }) }),
  browsers: () =>
    queryOptions({
      queryKey: ['browsers'],
      queryFn: ({ signal }) => request('GET /sessions', { signal })
    }),
  capture: (requestId: string) =>
    queryOptions({
      queryKey: ['captures', requestId],
      queryFn: ({ signal }) => request('GET /captures/:id', { params: { id: requestId }, signal })
    }),
  /** Receipts at about the time of the call, from its start. */
  receiptsOf: ({ role, api, timestamp, ms }: Pick<CallLine, 'role' | 'api' | 'timestamp' | 'ms'>) => {
    const at = Date.parse(timestamp)
    const span = { since: String(at - Math.ceil(ms) - RECEIPT_SPAN_MS), until: String(at + RECEIPT_SPAN_MS) }
    return queryOptions({
      queryKey: ['receipts', role, api, at],
      queryFn: ({ signal }) => request('GET /receipts', { query: { role, api, ...span }, signal })
    })
  },
  webhooks: () =>
    queryOptions({
      queryKey: ['webhooks'],
      queryFn: ({ signal }) => request('GET /webhooks', { signal })
    })
} as const

export type { ApiView, ChannelView, DoctorView, EarningsView, StatusView, WalletView }
