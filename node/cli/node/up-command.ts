import { type Command, Option } from 'commander'
import { forProfile, loadConfig } from '../../config.ts'
import type { NodeInfo } from '../../node-info.ts'
import { askNetwork } from '../options/ask-network.ts'
import type { AddCommand, Cli } from '../cli.ts'
import { EXIT } from '../terminal/exit-code.ts'
import { facts } from '../terminal/table.ts'

export const addUp: AddCommand = (to, cli) => {
  to.command('up')
    .description('run a node until Ctrl-C')
    .option(
      '--network <network>',
      'demo, dev, base-sepolia, base, or a network file (path or https URL); required for a new profile'
    )
    .option(
      '--network-url <url>',
      'where newer revisions of the network file are fetched: at each start, and once an hour'
    )
    .option(
      '--p2p-host <address>',
      'IP address to listen on for peers (default: 127.0.0.1 on dev and demo, else all interfaces)'
    )
    .option('--p2p-port <port>', 'default: 4402, or the next free one')
    .option('--bootstrap <multiaddr...>', 'addresses of peers to connect to first')
    .option('--announce <multiaddr...>', 'addresses to announce to peers instead of the listening addresses')
    .option('--relay', 'relay for nodes that cannot be reached, also on a network with real money')
    .option('--no-mdns', 'do not look for peers on the LAN (networks with private addresses only)')
    .option('--no-port-mapping', 'do not ask the router to forward the peer-to-peer port (NAT-PMP, UPnP)')
    .option('--no-ingress', 'run without the HTTP ingress, for a node that only serves APIs')
    .option('--ingress-host <host>', 'address on which the ingress listens (default: 127.0.0.1)')
    .option('--ingress-port <port>', 'default: 8402, or the next free one')
    .option('--tls-cert <file>', 'certificate of the ingress, PEM')
    .option('--tls-key <file>', 'key of the certificate, PEM')
    .option('--trust-proxy', 'trust the client address in headers of a proxy that terminates TLS')
    .option('--cors-origin <origin...>', 'web pages that may call the ingress; "*" for any')
    .option('--no-x402', 'refuse calls without a key, which would be paid by x402')
    .option('--admin-host <address>', 'set 0.0.0.0 only in a container without other access (default: 127.0.0.1)')
    .option('--admin-port <port>', 'default: 3000, or the next free one')
    .option('--chain-rpc <url>', "JSON-RPC endpoint of the network's chain (default: a public one)")
    .option('--treasury <address>', 'account that receives the 5%, if the network does not define it yet')
    .option('--payment-scheme <scheme>', 'channel: calls are paid; metered: calls are only counted (default: channel)')
    .addOption(new Option('--till <scheme>', 'renamed: --payment-scheme').hideHelp())
    .option('--passphrase-file <file>', "file with the passphrase of the profile's wallet (default: asks for it)")
    .option('--payout <address>', 'address that receives your earnings; keep its key on another machine')
    .option('--daily-cap <usdc>', 'spending limit of this node per day, for all keys together (default: 10)')
    .option(
      '--store <url>',
      'PostgreSQL database for shared keys and accounts; set SOUK_STORE instead to hide the password'
    )
    .option('--accounts', 'allow everybody to open a prepaid account at the ingress')
    .option('--no-self-service', 'account holders cannot create keys, and unauthenticated callers cannot open accounts')
    .option(
      '--demo-key <api...>',
      'allow everybody to call these APIs with the public demo key, within a small daily limit'
    )
    .option('--no-self-report', 'do not publish call counts, success rates and latencies in your listings')
    .option('--probe', 'check from time to time whether recently used APIs are reachable, without calling them')
    .option(
      '--watchdog <seconds>',
      'end the process if its event loop hangs for this long; 0 turns it off (default: 30)'
    )
    .option(
      '--keep-days <days>',
      'delete paid calls, ledger entries and receipts that are older (default: 400), or forever'
    )
    .option(
      '--log <names>',
      'debug logs by component: souk:* for all of Souk, souk:*:trace for more (default: none, or DEBUG)'
    )
    .option('--no-credit', 'serve the first call of a payer only when its deposit is mined')
    .option('--settle-on-stop', 'claim and pay out earnings before stopping')
    .action(async (flags: Record<string, unknown>, command: Command) => {
      // Because of `--no-ingress`, commander sets `ingress: true` by default. Only typed options count.
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
  const { unknownSettings } = await import('../options/unknown-settings.ts')
  for (const line of await unknownSettings(config.profile, cli.terminal.env)) cli.terminal.note(line)
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
    cli.terminal.collectGarbage?.()
    watchdog?.ready()
    await announce(cli, node.info)
    const failure = await Promise.race([stopped, failed.promise])
    if (failure !== undefined) throw failure
    cli.terminal.note('Stopping. Press Ctrl-C again to end it at once.')
  } finally {
    await node.stop()
  }
}

/** Shows the setup code on a terminal only. Logs may be read by other people. */
function entry(cli: Cli, setupCode: string): string {
  return cli.canAsk
    ? `setup code ${setupCode}, valid for 15 minutes`
    : forProfile('run souk console for a setup code', cli.profile)
}

/** @returns undefined if the watchdog is off */
async function watch(cli: Cli, limitMs = 0) {
  if (limitMs === 0) return undefined
  const { startWatchdog } = await import('../../watchdog/watchdog.ts')
  return startWatchdog({
    limitMs,
    exitCode: EXIT.hung,
    onFailure: (error) =>
      cli.terminal.note(
        `souk: The watchdog failed, so a hang is no longer detected. Restart the node. Cause: ${String(error)}`
      )
  })
}

async function announce(cli: Cli, { alone, setupCode, ...info }: NodeInfo): Promise<void> {
  const { terminal } = cli
  terminal.note(`souk ${info.version} on ${info.network} (${info.money}), profile ${info.profile}`)
  const places: Array<readonly [string, string]> = [
    ['  peer', info.peer],
    ...info.p2p.map((address) => ['  p2p', address] as const),
    ['  reach', info.reach],
    ['  ingress', info.ingress ?? 'none'],
    ['  console', setupCode === undefined ? info.admin : `${info.admin} (${entry(cli, setupCode)})`],
    ...(info.demoKey === undefined ? [] : [['  demo key', info.demoKey] as const])
  ]
  for (const line of facts(places)) terminal.note(line)
  if (alone)
    terminal.note(
      'No peer is connected yet. To connect another node, run there: souk up --bootstrap <the p2p line above>'
    )
  terminal.note('Ready. Ctrl-C stops it.')
  const { peer, network, admin, ingress, p2p, profile, demoKey } = info
  const demo = demoKey === undefined ? {} : { demo_key: demoKey }
  if (cli.json) await cli.print({ peer, network, admin, ingress: ingress ?? null, p2p, profile, ...demo }, () => [])
}
