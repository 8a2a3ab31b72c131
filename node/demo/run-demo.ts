import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { checksummed } from '../../lib/index.ts'
import { homeDirectory } from '../config.ts'
import { SetupError } from '../setup-error.ts'
import { type Child, runModule, startChild } from './child.ts'
import {
  balancesOn,
  DEMO_PAYOUT,
  type DemoBalances,
  type DemoSettlement,
  freshProfile,
  fund,
  settlementOn
} from './demo-money.ts'
import { DEMO_CONSUMER, holdNetwork } from './hold-network.ts'
import { publishLocalNetwork } from './local-network.ts'
import { SAMPLE_APIS, type SampleApi } from './sample-apis.ts'
import { startChain } from './start-chain.ts'

export interface DemoRun {
  /** Exits after the first calls and removes all files. */
  readonly once: boolean
  /** Prints one JSON object as the last line on stdout, and all else on stderr. */
  readonly json: boolean
  readonly env: NodeJS.ProcessEnv
  readonly stdout: (line: string) => void
  readonly stderr: (line: string) => void
  /** Resolves when the user wants to stop. */
  readonly stopped: Promise<void>
}

/** One call, as `--json` reports it. */
interface DemoCall {
  readonly api: string
  readonly protocol: string
  /** HTTP status; 0 if there was no response. */
  readonly status: number
  readonly ms: number
  /** Decimal USDC. */
  readonly charged: string
}

const MAIN = '../main'
const PROFILE = { bootstrap: 'demo-bootstrap', owner: 'demo-owner', consumer: DEMO_CONSUMER }
/** Time for the network to find a new listing, and the polling interval. */
const FIND_MS = 60_000
const FIND_PAUSE_MS = 100

/**
 * Runs a whole marketplace on one machine, as separate processes: three upstreams, a local chain with play USDC, a bootstrap node, an owner
 * node and a consumer node. Registers the APIs by the command line, calls each one, settles the earnings on the chain, and keeps running
 * unless `once` is set.
 * @returns exit code: 0 if every call returned 2xx
 */
export async function runDemo(run: DemoRun): Promise<number> {
  const say = run.json ? run.stderr : run.stdout
  const started: Array<Promise<Child>> = []
  const home = run.once ? await mkdtemp(join(tmpdir(), 'souk-demo-')) : undefined
  const env = home === undefined ? run.env : { ...run.env, SOUK_HOME: home }
  const held = await holdNetwork('demo', env)
  try {
    say('Starting three APIs, three nodes, and a chain with play USDC …')
    const market = await startMarket(env, started)
    for (const api of SAMPLE_APIS) await register(env, api, market.endpoints.get(api.name) ?? '')
    const key = await issueKey(env)
    const calls: DemoCall[] = []
    for (const api of SAMPLE_APIS) calls.push(await call(market.ingress, key, api, say))
    const failed = calls.filter(({ status }) => status < 200 || status > 299)
    const settlement = await settle(env, market)
    for (const line of statement(settlement)) say(line)
    if (!run.once) {
      for (const line of invitation(market)) say(line)
      const ends = (await Promise.all(started)).map(({ died }) => died)
      const why = await Promise.race([run.stopped, ...ends])
      say(why ?? 'Stopping …')
      if (why !== undefined) return 1
    }
    if (run.json) run.stdout(JSON.stringify({ calls, settlement }))
    return failed.length === 0 ? 0 : 1
  } finally {
    // Stop in reverse order, because later processes depend on earlier ones.
    for (const child of started.reverse()) await child.then((running) => running.stop()).catch(() => {})
    held.release()
    if (home !== undefined) await rm(home, { recursive: true, force: true })
  }
}

interface Market {
  /** URL of the consumer node's ingress. */
  readonly ingress: string
  /** The demo key that calls the sample APIs. */
  readonly demoKey: string
  /** Endpoint of each sample API. */
  readonly endpoints: ReadonlyMap<string, string>
  /** JSON-RPC endpoint of the chain. */
  readonly chain: string
  /** What earlier runs earned on it. */
  readonly before: DemoBalances
}

async function startMarket(env: NodeJS.ProcessEnv, all: Array<Promise<Child>>): Promise<Market> {
  const track = (child: Promise<Child>): Promise<Child> => {
    // Avoid an unhandled rejection: the error is reported when this child is awaited.
    child.catch(() => {})
    all.push(child)
    return child
  }
  const start = (name: string, module: string, args: readonly string[]) =>
    track(startChild({ name, module, args, env }))
  const up = (profile: string, ...args: string[]) =>
    start(profile, MAIN, ['up', '--profile', profile, '--network', 'demo', '--no-input', '--json', ...args])

  await freshProfile(PROFILE.bootstrap, env)
  const chain = track(startChain(join(homeDirectory(env), 'demo-chain.json'), env))
  const upstreams = SAMPLE_APIS.map(
    async ({ name, upstream }) => [name, await start(name, upstream, ['--port', '0'])] as const
  )
  const rpcUrl = String((await chain).info['url'])
  const publish = (bootstrap: readonly string[]) =>
    publishLocalNetwork({ name: 'demo', env, bootstrapProfile: PROFILE.bootstrap, rpcUrl, bootstrap })
  await publish([])
  const before = await balancesOn(rpcUrl)
  const bootstrap = await up(PROFILE.bootstrap, '--no-ingress', '--admin-port', '0', '--payment-scheme', 'metered')
  const wallets = {
    owner: await freshProfile(PROFILE.owner, env),
    consumer: await freshProfile(PROFILE.consumer, env)
  }
  await publish(textsIn(bootstrap.info['p2p']))
  await fund(rpcUrl, wallets.owner, wallets.consumer)
  // Start one after the other, so that the owner gets admin port 3000 and the consumer the next.
  await up(PROFILE.owner, '--no-ingress', '--payout', DEMO_PAYOUT)
  const forAll = ['--accounts', '--demo-key', ...SAMPLE_APIS.map(({ name }) => name)]
  const consumer = await up(PROFILE.consumer, ...forAll)
  const started = await Promise.all(upstreams)
  return {
    ingress: String(consumer.info['ingress']),
    demoKey: String(consumer.info['demo_key']),
    chain: rpcUrl,
    before,
    endpoints: new Map(started.map(([name, { info }]) => [name, String(info['url'])]))
  }
}

async function register(env: NodeJS.ProcessEnv, api: SampleApi, endpoint: string): Promise<void> {
  const { name, protocol, price, description } = api
  const terms = ['--name', name, '--protocol', protocol, '--endpoint', endpoint, '--price', price, '--currency', 'USDC']
  await souk(env, PROFILE.owner, [
    'api',
    'register',
    '--replace',
    ...terms,
    '--description',
    description,
    '--tag',
    'demo'
  ])
}

async function issueKey(env: NodeJS.ProcessEnv): Promise<string> {
  const issued = await souk(env, PROFILE.consumer, ['key', 'issue', '--label', 'demo'])
  return String(issued['key'])
}

/** Runs the command line like a user. */
async function souk(
  env: NodeJS.ProcessEnv,
  profile: string,
  args: readonly string[]
): Promise<Record<string, unknown>> {
  const init = { name: 'souk', module: MAIN, args: [...args, '--profile', profile, '--json'], env }
  const { code, stdout, stderr } = await runModule(init)
  if (code !== 0)
    throw new SetupError('start_failed', `souk ${args.slice(0, 2).join(' ')} failed (${code}).\n${stderr}`)
  return JSON.parse(stdout) as Record<string, unknown>
}

async function call(ingress: string, key: string, api: SampleApi, say: (line: string) => void): Promise<DemoCall> {
  const { name, protocol, price, body } = api
  await isFound(ingress, name)
  const startedAt = performance.now()
  const answer = await fetch(`${ingress}/api/demo/api/${name}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-consumer-key': key },
    body: JSON.stringify(body)
  }).catch((error: unknown) => error)
  const isAnswer = answer instanceof Response
  const text = isAnswer ? await answer.text() : String(answer)
  const ms = Math.round((performance.now() - startedAt) * 10) / 10
  const charged = (isAnswer ? answer.headers.get('souk-charged') : null) ?? '0'
  const status = isAnswer ? answer.status : 0
  say('')
  say(`${name} (${protocol})  ${status} in ${ms} ms, price ${price} USDC, charged ${charged} USDC`)
  const timing = isAnswer ? answer.headers.get('server-timing') : null
  if (timing !== null) say(`  ${timing}`)
  say(`  ${text}`)
  return { api: name, protocol, status, ms, charged }
}

async function settle(env: NodeJS.ProcessEnv, { chain, before }: Market): Promise<DemoSettlement> {
  const { transactions } = await souk(env, PROFILE.owner, ['settle', '--now'])
  return settlementOn(chain, before, textsIn(transactions))
}

function statement({ total, provider, platform, tx }: DemoSettlement): string[] {
  return [
    '',
    `Settled on the chain: ${total} play USDC`,
    `  provider  ${provider}  (95%, ${checksummed(DEMO_PAYOUT)})`,
    `  treasury  ${platform}  (5%)`,
    `  in ${tx.length} transactions, the last ${tx.at(-1) ?? 'none'}`
  ]
}

/** Waits until the consumer’s node finds a listing. If it never does, the later call reports why. */
async function isFound(ingress: string, name: string): Promise<void> {
  for (const until = performance.now() + FIND_MS; performance.now() < until; ) {
    const { ok } = await fetch(`${ingress}/v1/apis/${name}`).catch(() => ({ ok: false }))
    if (ok) return
    await new Promise((resolve) => setTimeout(resolve, FIND_PAUSE_MS))
  }
}

function invitation({ ingress, demoKey }: Market): string[] {
  const curls = SAMPLE_APIS.flatMap(({ name, body }) => [
    '',
    `curl -s ${ingress}/api/demo/api/${name} \\`,
    `  -H 'Content-Type: application/json' -H 'X-Consumer-Key: ${demoKey}' \\`,
    `  -d '${JSON.stringify(body)}'`
  ])
  return [
    '',
    `The marketplace is up: ${ingress}/ in a browser. Calls are paid in play USDC, which is worth nothing. Try it with the public demo key:`,
    ...curls,
    '',
    `The same as a stream: add -N -H 'Accept: text/event-stream' to the first one.`,
    ...commandHint(),
    `In the browser, as its provider: souk --profile ${PROFILE.owner} console; as its consumer: souk --profile ${PROFILE.consumer} console`,
    'Join it with a node of your own, with play USDC: souk init --network demo',
    `Create your own key: souk --profile ${PROFILE.consumer} key issue, or ${ingress}/v1/account`,
    `Claim the earnings: souk --profile ${PROFILE.owner} settle --now`,
    `Look around: souk --profile ${PROFILE.consumer} search; souk --profile ${PROFILE.owner} api list`,
    'Ctrl-C stops everything.'
  ]
}

/** In a checkout, the `souk` command and its Node.js are in node_modules/.bin. */
function commandHint(): string[] {
  const commands = join(process.cwd(), 'node_modules/.bin')
  return existsSync(join(commands, 'souk')) ? [`In another terminal, first: export PATH="${commands}:$PATH"`] : []
}

function textsIn(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : []
}
