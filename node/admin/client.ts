import type { Problem } from '../../lib/interface/index.ts'
import {
  type ProfileLocation,
  profileFile,
  readProfileJson,
  runningProfiles,
  type RunningInfo
} from '../profile/profile.ts'
import type { ProfileBackup } from '../profile/profile-backup.ts'
import { readPrivateFile } from '../profile/private-file.ts'
import { AdminProblem, fetchFailure, NodeNotRunning, NodeSilent, otherProgram } from './node-errors.ts'
import type {
  AccountsView,
  AccountView,
  OpenAccountInput,
  OpenedAccountView,
  ApiView,
  CallEvent,
  CallHead,
  CallInput,
  DelegationView,
  DoctorView,
  PeerView,
  RegisteredView,
  RegisterInput,
  ReplicaInput,
  SetupCodeView,
  StatusView
} from './api.ts'
import type {
  BooksInput,
  BooksView,
  ChannelView,
  ClosedChannelsView,
  EarningsView,
  ReceiptsInput,
  ReceiptsView,
  SettlementView,
  WalletView,
  WithdrawalView,
  WithdrawInput
} from './money-api.ts'
import { type ListingClient, listingClient } from './listing-client.ts'
import { queryOf } from './query.ts'
import type { AddedWebhookView, AddWebhookInput, TailItem, WebhookTestView, WebhookView } from './webhook-api.ts'
import { type DescriptionClient, descriptionClient } from './description-client.ts'
import { type KeyClient, keyClient } from './key-client.ts'
import type { MarketListingView, SearchInput, SearchView, WhyView } from './market-api.ts'
import type { SeriesInput, SeriesView } from './series-api.ts'
import type { BrowserView, CaptureView, SettingsInput, SettingsView } from './settings-api.ts'

/** Which events are wanted, and whether calls are. */
export interface EventsInput {
  readonly types?: string | undefined
  readonly calls?: 1 | undefined
  /** With those that ended last first. */
  readonly recent?: 1 | undefined
}

/** The head of a call's answer, and its body as it arrives. */
export interface CallAnswer {
  readonly head: CallHead
  /** Throws `AdminProblem` when the body breaks off. */
  readonly body: AsyncIterable<Uint8Array>
}

/** One method per route. All throw `AdminProblem`, `NodeNotRunning` and `NodeSilent`. */
export interface AdminClient extends DescriptionClient, KeyClient, ListingClient {
  status(): Promise<StatusView>
  apis(): Promise<{ apis: readonly ApiView[] }>
  api(name: string): Promise<ApiView>
  register(input: RegisterInput): Promise<RegisteredView>
  serve(input: ReplicaInput): Promise<RegisteredView>
  remove(name: string): Promise<void>
  openAccount(input: OpenAccountInput): Promise<OpenedAccountView>
  accounts(): Promise<AccountsView>
  account(id: string): Promise<AccountView>
  search(input: SearchInput): Promise<SearchView>
  listing(id: string): Promise<MarketListingView>
  why(api: string): Promise<WhyView>
  call(input: CallInput): Promise<CallAnswer>
  /** Of the Model Context Protocol, its answer whatever it is. */
  mcp(query: string, body: string, headers: Readonly<Record<string, string>>, signal: AbortSignal): Promise<Response>
  addWebhook(input: AddWebhookInput): Promise<AddedWebhookView>
  webhooks(): Promise<{ webhooks: readonly WebhookView[] }>
  removeWebhook(id: string): Promise<void>
  rotateWebhook(id: string): Promise<AddedWebhookView>
  enableWebhook(id: string): Promise<WebhookView>
  testWebhook(id: string): Promise<WebhookTestView>
  /** As they happen, until the signal aborts or the node stops. */
  events(input: EventsInput, signal: AbortSignal): AsyncIterable<TailItem>
  series(input: SeriesInput): Promise<SeriesView>
  peers(): Promise<{ peers: readonly PeerView[] }>
  doctor(): Promise<DoctorView>
  setupCode(): Promise<SetupCodeView>
  browsers(): Promise<{ sessions: readonly BrowserView[] }>
  showOut(id: string): Promise<void>
  settings(): Promise<SettingsView>
  setSettings(input: SettingsInput): Promise<SettingsView>
  capture(requestId: string): Promise<CaptureView>
  backUp(directory: string): Promise<ProfileBackup>
  delegate(peer: string): Promise<DelegationView>
  delegations(): Promise<{ delegations: readonly DelegationView[] }>
  pin(name: string, provider: string): Promise<void>
  setPayout(address: string): Promise<StatusView>
  settle(): Promise<SettlementView>
  earnings(): Promise<EarningsView>
  receipts(input: ReceiptsInput): Promise<ReceiptsView>
  books(input: BooksInput): Promise<BooksView>
  channels(): Promise<{ channels: readonly ChannelView[] }>
  closeChannel(channel: string): Promise<ChannelView>
  closeChannels(): Promise<ClosedChannelsView>
  withdrawChannel(channel: string): Promise<ChannelView>
  wallet(): Promise<WalletView>
  withdraw(input: WithdrawInput): Promise<WithdrawalView>
}

/**
 * Finds the node that runs on a profile. Needs the profile's files, so it works for the user who owns them.
 * @throws `NodeNotRunning`; SetupError `permissions_too_open`
 */
export async function connect(profile: ProfileLocation): Promise<AdminClient> {
  const running = (await readProfileJson(profile, 'running')) as RunningInfo | undefined
  const token = await readPrivateFile(profileFile(profile, 'adminToken'))
  if (running === undefined || token === undefined)
    throw new NodeNotRunning(profile.name, await runningProfiles(profile))
  return createAdminClient({ url: running.admin, token: new TextDecoder().decode(token), profile: profile.name })
}

export interface AdminClientInit {
  /** Such as `http://127.0.0.1:3000`. */
  readonly url: string
  readonly token: string
  /** Named in errors. */
  readonly profile: string
}

/** Requests of one node, and what their failures mean. */
function transport({ url, token, profile }: AdminClientInit) {
  async function send(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<Response> {
    const headers = { authorization: `Bearer ${token}` }
    const ended = signal === undefined ? {} : { signal }
    let response: Response
    try {
      response = await fetch(
        `${url}/admin/v1${path}`,
        body === undefined
          ? { method, headers, ...ended }
          : { method, headers: { ...headers, 'content-type': 'application/json' }, body: JSON.stringify(body) }
      )
    } catch (error) {
      throw fetchFailure(error, profile, url)
    }
    if (response.ok) return response
    if (response.headers.get('content-type')?.startsWith('application/problem+json') !== true) {
      throw otherProgram(profile, url)
    }
    throw new AdminProblem((await response.json()) as Problem)
  }
  async function json<T>(method: string, path: string, body?: unknown): Promise<T> {
    const response = await send(method, path, body)
    try {
      return (await response.json()) as T
    } catch (error) {
      throw fetchFailure(error, profile, url)
    }
  }
  return { send, json }
}

export function createAdminClient(init: AdminClientInit): AdminClient {
  const { url, token, profile } = init
  const { send, json } = transport(init)

  return {
    ...descriptionClient(json),
    ...keyClient(json),
    status: () => json('GET', '/status'),
    apis: () => json('GET', '/apis'),
    api: (name) => json('GET', named('apis', name)),
    register: (input) => json('POST', '/apis', input),
    serve: (input) => json('POST', '/replicas', input),
    remove: async (name) => void (await send('DELETE', named('apis', name))),
    ...listingClient(json),
    openAccount: (input) => json('POST', '/accounts', input),
    accounts: () => json('GET', '/accounts'),
    account: (id) => json('GET', named('accounts', id)),
    ...marketOf(json),
    call: async (input) => readCall(await send('POST', '/call', input)),
    async mcp(search, body, headers, signal) {
      const sent = { ...headers, authorization: `Bearer ${token}` }
      try {
        return await fetch(`${url}/admin/v1/mcp?${search}`, { method: 'POST', headers: sent, body, signal })
      } catch (error) {
        throw fetchFailure(error, profile, url)
      }
    },
    addWebhook: (input) => json('POST', '/webhooks', input),
    webhooks: () => json('GET', '/webhooks'),
    removeWebhook: async (id) => void (await send('DELETE', named('webhooks', id))),
    rotateWebhook: (id) => json('POST', `${named('webhooks', id)}/rotate`),
    enableWebhook: (id) => json('POST', `${named('webhooks', id)}/enable`),
    testWebhook: (id) => json('POST', `${named('webhooks', id)}/test`),
    async *events(input, signal) {
      yield* tailItems(await send('GET', `/events?${queryOf(input)}`, undefined, signal))
    },
    series: (input) => json('GET', `/series?${queryOf(input)}`),
    peers: () => json('GET', '/peers'),
    doctor: () => json('GET', '/doctor'),
    setupCode: () => json('POST', '/setup-codes'),
    browsers: () => json('GET', '/sessions'),
    showOut: async (id) => void (await send('DELETE', named('sessions', id))),
    settings: () => json('GET', '/settings'),
    setSettings: (input) => json('PUT', '/settings', input),
    capture: (requestId) => json('GET', named('captures', requestId)),
    backUp: (directory) => json('POST', '/backups', { directory }),
    delegate: (peer) => json('POST', '/delegations', { peer }),
    delegations: () => json('GET', '/delegations'),
    settle: () => json('POST', '/settlements'),
    earnings: () => json('GET', '/earnings'),
    receipts: (input) => json('GET', `/receipts?${queryOf(input)}`),
    books: (input) => json('GET', `/books?${queryOf(input)}`),
    channels: () => json('GET', '/channels'),
    closeChannel: (channel) => json('POST', `${named('channels', channel)}/close`),
    closeChannels: () => json('POST', '/channels/close'),
    withdrawChannel: (channel) => json('POST', `${named('channels', channel)}/withdraw`),
    wallet: () => json('GET', '/wallet'),
    withdraw: (input) => json('POST', '/wallet/withdrawals', input),
    setPayout: (address) => json('PUT', '/payout', { address }),
    pin: async (name, provider) => void (await send('PUT', named('pins', name), { provider }))
  }
}

const named = (collection: string, name: string): string => `/${collection}/${encodeURIComponent(name)}`

type Json = <T>(method: string, path: string) => Promise<T>

function marketOf(json: Json): Pick<AdminClient, 'search' | 'listing' | 'why'> {
  return {
    search: (input) => json('GET', `/search?${queryOf(input)}`),
    listing: (id) => json('GET', named('listings', id)),
    why: (api) => json('GET', named('why', api))
  }
}

/** What stands behind `data:` in a stream of events, each on one line. */
async function* tailItems(response: Response): AsyncGenerator<TailItem> {
  let rest = ''
  if (response.body === null) return
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) if (line.startsWith('data: ')) yield JSON.parse(line.slice('data: '.length)) as TailItem
  }
}

async function readCall(response: Response): Promise<CallAnswer> {
  const events = callEvents(response)
  const first = await events.next()
  if (first.done === true || first.value.type !== 'head') throw new NodeSilent(BROKEN)
  const { type: _, ...head } = first.value
  return { head, body: bodyOf(events) }
}

async function* bodyOf(events: AsyncIterable<CallEvent>): AsyncIterable<Uint8Array> {
  for await (const event of events) {
    if (event.type === 'data') yield Buffer.from(event.base64, 'base64')
    if (event.type === 'error') throw new AdminProblem(event.problem as Problem)
    if (event.type === 'end') return
  }
  throw new NodeSilent(BROKEN)
}

async function* callEvents(response: Response): AsyncGenerator<CallEvent, undefined> {
  let rest = ''
  if (response.body === null) return
  try {
    for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
      const lines = (rest + chunk).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) yield JSON.parse(line) as CallEvent
    }
  } catch (error) {
    throw new NodeSilent(BROKEN, { cause: error })
  }
}

const BROKEN = 'The connection to the node broke before the answer ended.'
