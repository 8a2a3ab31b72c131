import { type Command, Option } from 'commander'
import { loadConfig } from '../../config.ts'
import { askNetwork } from '../options/ask-network.ts'
import type { AddCommand, Cli } from '../cli.ts'
import { EXIT } from '../terminal/exit-code.ts'
import { facts } from '../terminal/table.ts'

export const addUp: AddCommand = (to, cli) => {
  to.command('up')
    .description('run a node until Ctrl-C')
    .option('--network <network>', 'dev, base-sepolia or base; a new profile has to say')
    .option('--p2p-host <address>', 'IP address to listen on for peers (default: 127.0.0.1)')
    .option('--p2p-port <port>', 'default: 4402, or the next free one')
    .option('--bootstrap <multiaddr...>', 'peers to start from')
    .option('--announce <multiaddr...>', 'what to tell peers instead of the addresses listened on')
    .option('--no-ingress', 'no HTTP ingress: a node that only serves')
    .option('--ingress-host <host>', 'to listen on for consumers (default: 127.0.0.1)')
    .option('--ingress-port <port>', 'default: 8402, or the next free one')
    .option('--tls-cert <file>', 'certificate of the ingress, PEM')
    .option('--tls-key <file>', 'its key, PEM')
    .option('--trust-proxy', 'a proxy in front ends TLS and says who the client is')
    .option('--cors-origin <origin...>', 'web pages that may call the ingress; "*" for any')
    .option('--no-x402', 'no calls without a key: unauthenticated clients cannot pay by x402 through this node')
    .option('--admin-host <address>', '0.0.0.0 inside a container, where nothing else reaches it (default: 127.0.0.1)')
    .option('--admin-port <port>', 'default: 3000, or the next free one')
    .option('--chain-rpc <url>', "JSON-RPC endpoint of the network's chain (default: a public one)")
    .option('--treasury <address>', 'who gets the 5%, where the network does not say it yet')
    .option(
      '--payment-scheme <scheme>',
      'channel: calls are paid for; metered: they are only counted (default: channel)'
    )
    .addOption(new Option('--till <scheme>', 'renamed: --payment-scheme').hideHelp())
    .option('--passphrase-file <file>', "passphrase of the profile's wallet (default: it is asked for)")
    .option('--payout <address>', 'where your APIs are paid: an account whose key is not on this machine')
    .option('--daily-cap <usdc>', 'what this node pays in one day, all keys together (default: 10)')
    .option(
      '--store <url>',
      'PostgreSQL to share keys and accounts through; SOUK_STORE keeps its password out of sight'
    )
    .option('--accounts', 'let anybody open a prepaid account at the ingress')
    .option(
      '--no-self-service',
      'account holders create no keys themselves, and unauthenticated clients open no accounts'
    )
    .option('--demo-key <api...>', 'let anybody call these with the public demo key, a little of it each day')
    .option('--no-self-report', 'your listings do not say how many calls they had, how many went well and how quickly')
    .option('--probe', 'try now and then whether APIs called or looked at here can be reached, without calling them')
    .option('--watchdog <seconds>', 'end a process whose event loop hangs for so long; 0 for never (default: 30)')
    .option(
      '--keep-days <days>',
      'delete paid calls, ledger entries and receipts that are older (default: 400), or forever'
    )
    .option(
      '--log <names>',
      'log what components do: souk:* for all of Souk, souk:*:trace for more (default: none, or DEBUG)'
    )
    .option('--settle-on-stop', 'fetch what was earned before stopping')
    .action(async (flags: Record<string, unknown>, command: Command) => {
      // `--no-ingress` makes commander say `ingress: true` where nothing was typed.
      const isTyped = (name: string) => command.getOptionValueSource(name) === 'cli'
      const typed = Object.fromEntries(Object.entries(flags).filter(([name]) => isTyped(name)))
      await up(cli, typed)
    })
}

async function up(cli: Cli, flags: Record<string, unknown>): Promise<void> {
  const config = await loadConfig({
    flags,
    profile: cli.profile,
    env: cli.terminal.env,
    ...(cli.canAsk ? { askNetwork: (choices) => askNetwork(cli, choices) } : {})
  })
  await using watchdog = await watch(cli, config.watchdogMs)
  const { runNode } = await import('../../run.ts')
  const stopped = cli.terminal.stopped()
  const failed = Promise.withResolvers<Error>()
  const stopping = new AbortController()
  void stopped.then(() => stopping.abort())
  const starting = runNode(config, {
    log: (line) => cli.terminal.note(line),
    onFailure: failed.resolve,
    signal: stopping.signal,
    ...(cli.canAsk ? { askSecret: (question) => cli.terminal.askSecret(question) } : {})
  })
  const node = await cli.during('Starting', starting).catch((error: unknown) => {
    if (error !== stopping.signal.reason) throw error
  })
  if (node === undefined) return
  try {
    watchdog?.ready()
    await announce(cli, node.info)
    const failure = await Promise.race([stopped, failed.promise])
    if (failure !== undefined) throw failure
    cli.terminal.note('Stopping; Ctrl-C again ends it at once.')
  } finally {
    await node.stop()
  }
}

/** A log outlives the code, and more people read it: only somebody at the terminal sees the code. */
function entry(cli: Cli, setupCode: string): string {
  return cli.canAsk ? `setup code ${setupCode}, good for 15 minutes` : 'souk console gives the setup code'
}

/** @returns undefined where it is turned off */
async function watch(cli: Cli, limitMs = 0) {
  if (limitMs === 0) return undefined
  const { startWatchdog } = await import('../../watchdog/watchdog.ts')
  return startWatchdog({
    limitMs,
    exitCode: EXIT.hung,
    onFailure: (error) => cli.terminal.note(`souk: The watchdog failed, and nothing sees a hang now: ${String(error)}`)
  })
}

/** What is told of a node that is ready. */
interface Ready {
  readonly version: string
  readonly profile: string
  readonly peer: string
  readonly network: string
  readonly money: string
  readonly admin: string
  readonly ingress: string | undefined
  readonly p2p: readonly string[]
  readonly demoKey: string | undefined
  readonly alone: boolean
  readonly setupCode: string | undefined
}

async function announce(cli: Cli, { alone, setupCode, ...info }: Ready): Promise<void> {
  const { terminal } = cli
  terminal.note(`souk ${info.version} on ${info.network} (${info.money}), profile ${info.profile}`)
  const places: Array<readonly [string, string]> = [
    ['  peer', info.peer],
    ...info.p2p.map((address) => ['  p2p', address] as const),
    ['  ingress', info.ingress ?? 'none'],
    ['  console', setupCode === undefined ? info.admin : `${info.admin} (${entry(cli, setupCode)})`],
    ...(info.demoKey === undefined ? [] : [['  demo key', info.demoKey] as const])
  ]
  for (const line of facts(places)) terminal.note(line)
  if (alone)
    terminal.note('Alone: no peer is connected yet. Another node joins with: souk up --bootstrap <the p2p line above>')
  terminal.note('Ready. Ctrl-C stops it.')
  const { peer, network, admin, ingress, p2p, profile, demoKey } = info
  const demo = demoKey === undefined ? {} : { demo_key: demoKey }
  if (cli.json) await cli.print({ peer, network, admin, ingress: ingress ?? null, p2p, profile, ...demo }, () => [])
}
