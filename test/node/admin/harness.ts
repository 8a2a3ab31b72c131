import assert from 'node:assert/strict'
import {
  createMemoryStore,
  createNode,
  type NodeOptions,
  SoukError,
  systemClock,
  systemRandom
} from '../../../lib/index.ts'
import type { AdapterFactory, AdapterReply, Souk } from '../../../lib/interface/index.ts'
import type { DoctorView, StatusView } from '../../../node/admin/api.ts'
import { type AdminClient, createAdminClient } from '../../../node/admin/client.ts'
import type { AdminRoute } from '../../../node/admin/route.ts'
import { ADMIN_ROUTES } from '../../../node/admin/routes.ts'
import { type AdminPlace, startAdmin } from '../../../node/admin/server.ts'
import { Sessions } from '../../../node/admin/sessions/sessions.ts'
import type { WalletService } from '../../../node/wallet/wallet-service.ts'
import { SetupError } from '../../../node/setup-error.ts'
import { Accounts } from '../../../node/accounts/accounts.ts'
import { createKeys } from '../../../node/keys/keys.ts'
import { createLog } from '../../../node/log.ts'
import { Payout } from '../../../node/payments/payout.ts'
import { DailyCaps } from '../../../node/spending/daily-caps.ts'
import { watchedKeys } from '../../../node/events/watch-keys.ts'
import type { Events } from '../../../node/events/events.ts'
import { startEvents } from '../../../node/events/start-events.ts'
import { reachabilityView } from '../../../node/reachability-view.ts'
import type { Factories } from '../../../node/upstream/adapters.ts'
import { NodeGuard } from '../../../node/upstream/guard.ts'
import { createSecretBox, SECRET_BOX_KEY_BYTES } from '../../../node/upstream/secret-box.ts'
import { Spending } from '../../../node/spending/spending.ts'
import { Registrations } from '../../../node/registrations/registrations.ts'
import { openSubscriptions } from '../../../node/subscriptions/open.ts'

export const TOKEN = 'token-of-the-tests'

/** A protocol whose upstream is a local function. `down` makes it unreachable. */
export class FakeUpstream implements AdapterFactory {
  readonly protocol = 'REST'
  down = false
  opened = 0
  closed = 0
  reply: (body: string) => Partial<AdapterReply> = (body) => ({ body: Buffer.from(body) })

  inspect: AdapterFactory['inspect'] = async () => {
    if (this.down) throw new SoukError('upstream_unreachable', 'Nothing listens there.')
    return { description: { operations: [{ name: 'call' }] }, snapshot: 'as read', warnings: ['A warning.'] }
  }

  open: AdapterFactory['open'] = (_config, snapshot) => {
    if (snapshot !== 'as read') throw new Error(`opened with ${snapshot}`)
    this.opened++
    return {
      protocol: 'REST',
      description: { operations: [{ name: 'call' }] },
      call: async ({ body }) => ({
        status: 200,
        headers: [['content-type', 'application/json']],
        body: new Uint8Array(0),
        success: true,
        upstreamMs: 1,
        ...this.reply(Buffer.from(body as Uint8Array).toString())
      }),
      close: async () => void this.closed++
    }
  }
}

const refuse = async () => {
  throw new SetupError('wallet_missing', 'There is no profile here.')
}
const NO_WALLET: WalletService = {
  card: async () => ({ address: null, network: 'dev', money: 'play USDC' }),
  make: refuse,
  takeOver: refuse,
  keyFile: refuse,
  give: refuse
}

export interface Bench {
  readonly souk: Souk
  readonly registrations: Registrations
  readonly upstream: FakeUpstream
  readonly events: Events
  readonly client: AdminClient
  readonly url: string
  readonly logged: string[]
  stop(): Promise<void>
}

function statusOf(souk: Souk): StatusView {
  const { peer, provider, network, addresses, peers, alone, paymentScheme, listings, serving, calling, reachability } =
    souk.status()
  const facts = { peer, provider, network, till: paymentScheme, alone, listings, serving, calling }
  const elsewhere = { admin: '', ingress: null, wallet: null, chain: null, payout: null }
  return {
    ...facts,
    ...elsewhere,
    version: '0.0.0',
    profile: 'default',
    restart_needed: null,
    money: 'play USDC',
    p2p: addresses,
    reachability: reachabilityView(reachability),
    peers: peers.length,
    uptime_ms: 0,
    store: { free_bytes: null, shared: null, refusal: null }
  }
}

const ROUTES = new Map<string, AdminRoute>(
  Object.values(ADMIN_ROUTES)
    .flat()
    .map((route) => [`${route.method} ${route.path}`, route])
)

/** The same client, but each response must match the declared schema of its route exactly. */
function checked(client: AdminClient): AdminClient {
  const request = async (name: string, input: object): Promise<unknown> => {
    const response: unknown = await Reflect.apply(client.request, undefined, [name, input])
    const declared = ROUTES.get(name)?.response
    assert.deepEqual(response, declared?.parse(response), name)
    return response
  }
  return { ...client, request: request as AdminClient['request'] }
}

/** An admin API of a real node. The upstream is a local function unless real adapters are given. */
export async function startBench(
  given: NodeOptions = {},
  factories?: Factories,
  place: Pick<AdminPlace, 'receiveMs'> = {}
): Promise<Bench> {
  const upstream = new FakeUpstream()
  const logged: string[] = []
  const log = createLog((line) => logged.push(line))
  const node = await createNode({ store: createMemoryStore(), ...given })
  await node.start()
  const { souk } = node
  const { documents } = souk.store
  const seams = { clock: systemClock, random: systemRandom }
  const secretBox = createSecretBox(Buffer.alloc(SECRET_BOX_KEY_BYTES, 7))
  const nodeEvents = await startEvents({ documents, secretBox, guard: new NodeGuard(), clock: systemClock, log })
  const registrations = new Registrations({
    souk,
    events: nodeEvents.events,
    documents,
    secretBox,
    factories: factories ?? { REST: async () => upstream },
    clock: systemClock,
    payout: new Payout({ profile: { name: 'tests', directory: '/nowhere' }, payout: undefined, isNeeded: false }),
    log: log.info
  })
  await registrations.restore()
  const keys = watchedKeys(
    createKeys({ documents, secret: Buffer.alloc(32, 7), network: 'dev', ...seams }),
    nodeEvents.events
  )
  const spending = new Spending({ caps: new DailyCaps({ clock: systemClock, documents }) })
  const admin = await startAdmin(
    {
      souk,
      registrations,
      keys,
      events: nodeEvents.events,
      webhooks: nodeEvents.webhooks,
      calls: nodeEvents.calls.feed,
      captures: nodeEvents.calls.captures,
      walletService: NO_WALLET,
      spending,
      accounts: new Accounts({ documents, ledger: souk.store.ledger, keys, ...seams }),
      clock: systemClock,
      token: TOKEN,
      subscriptions: openSubscriptions({ souk, documents, keys, spending, clock: systemClock }),
      sessions: new Sessions({ profile: 'default', documents, ...seams }),
      log,
      status: () => statusOf(souk),
      doctor: async (): Promise<DoctorView> => ({ ok: true, checks: [] }),
      backUp: async (directory) => ({ directory, files: [], bytes: 0 }),
      money: undefined
    },
    { port: 0, exact: true, ...place }
  )
  return {
    souk,
    registrations,
    upstream,
    events: nodeEvents.events,
    logged,
    url: admin.url,
    client: checked(createAdminClient({ url: admin.url, token: TOKEN, profile: 'tests' })),
    async stop() {
      await admin.close()
      await nodeEvents[Symbol.asyncDispose]()
      registrations.stop()
      await node.stop()
    }
  }
}
