import type { RegisteredView, RegisterInput, StatusView } from '../../admin/api.ts'
import type { DiscoveredView, DiscoverInput, ReachView } from '../../admin/apis/discovery-api.ts'
import type { AdminClient } from '../../admin/client.ts'
import { PROTOCOLS_TEXT, type ProtocolName } from '../../../protocols/protocol-descriptors.ts'
import type { AddCommand, Cli } from '../cli.ts'
import { readAuthFile } from '../options/auth-file.ts'
import { checkName } from '../options/check-typed.ts'
import { decimal, wholeNumberOr0 } from '../options/number-option.ts'
import { protocolOption } from '../options/protocol-option.ts'
import { WSDL_INCOMPLETE } from '../options/wsdl-options.ts'
import { EXIT } from '../terminal/exit-code.ts'
import { facts } from '../terminal/table.ts'
import { UsageError } from '../terminal/usage-error.ts'
import { register } from './register.ts'

interface SellFlags {
  readonly name?: string
  readonly price?: string
  readonly protocol?: ProtocolName
  readonly openapi?: string
  readonly description?: string
  readonly tag?: string[]
  readonly authFile?: string
  readonly wsdlIncomplete?: boolean
  readonly replace?: boolean
  readonly yes?: boolean
  readonly waitMs: number
}

type Found = DiscoveredView['found'][number]

/** How long to wait until a peer has the API in its catalogue. Gossip takes a second or two. */
const WAIT_MS = 30_000
const POLL_MS = 500

/** From an address to a published API, with one question. */
export const addSell: AddCommand = (to, cli) => {
  to.command('sell')
    .description('find out what API is at a URL, and sell it')
    .argument('<url>', 'address of the API, of its description, or of its host')
    .option('--name <name>', 'a-z, 0-9 and "-" (default: from its title)')
    .option('--price <number>', 'price per call in USDC; 0 is free (default: 0.001)', decimal)
    .option('--protocol <protocol>', `${PROTOCOLS_TEXT} (default: what is found)`, protocolOption)
    .option('--openapi <url>', 'URL of the OpenAPI document, if it is not at a usual place')
    .option('--description <text>', 'purpose of the API (default: from its title)')
    .option('--tag <tag...>', 'tags for searches')
    .option('--auth-file <file>', 'JSON file with credentials for the API; stored encrypted on this node only')
    .option(...WSDL_INCOMPLETE)
    .option('--replace', 'change an API that is registered under the same name')
    .option('--yes', 'do not ask for confirmation')
    .option('--wait-ms <ms>', 'how long to wait until another node has found the API', wholeNumberOr0, WAIT_MS)
    .action(async (typed: string, flags: SellFlags) => {
      if (flags.name !== undefined) await checkName(flags.name)
      const node = await cli.node()
      const offer = await offerOf(cli, node, addressOf(typed), flags)
      if (offer === undefined) return
      const done = await register(cli, node, offer)
      if (done === undefined) return
      const reach = await reached(cli, node, done.api.name, flags.waitMs)
      await cli.print({ ...done, ...reach }, () => soldLines(done, reach))
      const isUnknown = reach.known_by.length === 0 && reach.peers > 0
      tellReach(cli, reach)
      if (isUnknown) tellWhy(cli, (await node.request('GET /status')).reachability)
    })
}

/** `localhost:8080` is an address too. */
function addressOf(typed: string): string {
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(typed) ? typed : `http://${typed}`
}

/** What to register. Undefined if the user declined. */
async function offerOf(
  cli: Cli,
  node: AdminClient,
  endpoint: string,
  flags: SellFlags
): Promise<RegisterInput | undefined> {
  const auth = flags.authFile === undefined ? undefined : await readAuthFile(flags.authFile)
  const protocol = flags.openapi === undefined ? flags.protocol : 'REST'
  const wanted: DiscoverInput = { endpoint, protocol, auth }
  const view = await cli.during(`Reading ${endpoint}`, node.request('POST /upstreams/discover', { body: wanted }))
  const [best] = view.found
  if (best === undefined) throw new Error('the node found nothing')
  const price = flags.price ?? view.price
  if (view.unpayable !== null && Number(price) > 0) throw unpayable(view.unpayable)
  const name = flags.name ?? view.name
  tellFound(cli, view, best)
  const agreed = await agreedPrice(cli, name, price, flags)
  if (agreed === undefined) return undefined
  const openapi = flags.openapi ?? best.openapi
  const about = flags.description ?? (best.description === '' ? best.title : best.description)
  return {
    name,
    protocol: best.protocol,
    price: agreed,
    endpoint: best.endpoint,
    description: about === '' ? undefined : about,
    tags: flags.tag,
    auth,
    method: best.method === null || openapi !== null ? undefined : (best.method as RegisterInput['method']),
    openapi: openapi === null ? undefined : { url: openapi },
    wsdl: best.protocol === 'SOAP' && flags.wsdlIncomplete === true ? { incomplete: true } : undefined,
    replace: flags.replace === true
  }
}

function unpayable(why: string): UsageError {
  const [, command] = /Run: (.*)$/.exec(why) ?? []
  return new UsageError(why, command === undefined ? '--price 0, to offer it for free' : `${command}; or --price 0`)
}

function tellFound(cli: Cli, { found, refused }: DiscoveredView, best: Found): void {
  const { note } = cli.terminal
  const many = best.operations === 1 ? '1 operation' : `${best.operations} operations`
  const what = best.title === '' ? '' : ` "${best.title}",`
  note(`Found ${best.protocol}:${what} ${many}, at ${best.at}`)
  for (const warning of [...refused, ...best.warnings]) note(`warning: ${warning}`)
  for (const other of found.filter(({ protocol, at }) => protocol !== best.protocol && at !== best.at)) {
    note(`Also found ${other.protocol} at ${other.at}. To sell that instead: --protocol ${other.protocol}`)
  }
}

/** Asks once. The answer may be another price. */
async function agreedPrice(cli: Cli, name: string, price: string, flags: SellFlags): Promise<string | undefined> {
  if (flags.yes === true) return price
  if (!cli.canAsk) {
    throw new UsageError('There is no terminal to ask for name and price.', `--yes --name ${name} --price ${price}`)
  }
  const answer = (await cli.terminal.ask(`Sell it as ${name} for ${price} USDC per call? [Y/n, or a price] `)).trim()
  if (/^(?:y|yes)?$/i.test(answer)) return price
  if (/^\d+(?:\.\d{1,6})?$/.test(answer)) return answer
  cli.terminal.note('Nothing was registered. Choose another name with --name.')
  cli.exitCode = EXIT.failed
  return undefined
}

/** Waits until a peer has the API. Without peers there is nothing to wait for. */
async function reached(cli: Cli, node: AdminClient, name: string, waitMs: number): Promise<ReachView> {
  const startedAt = performance.now()
  const ask = () => node.request('GET /apis/:name/reach', { params: { name } })
  const waiting = async () => {
    for (;;) {
      const view = await ask()
      const isLate = performance.now() - startedAt >= waitMs
      if (view.known_by.length > 0 || view.peers === 0 || isLate) return view
      await new Promise((resolve) => setTimeout(resolve, POLL_MS))
    }
  }
  return cli.during('Waiting until another node has found it', waiting())
}

function soldLines({ api, updated }: RegisteredView, { earns, curl, page }: ReachView): string[] {
  const rows: Array<readonly [string, string]> = [
    [updated ? 'updated' : 'sells', api.id],
    ['price', `${api.price} USDC per call; you earn ${earns} USDC after the fee of 5%`]
  ]
  if (page !== null) rows.push(['page', page])
  const call = curl === null ? [] : ['', 'Consumers call it with a key of this ingress (souk key issue):', '', curl]
  return [...facts(rows), ...call]
}

function tellReach(cli: Cli, { peers, known_by, stored, curl }: ReachView): void {
  const { note } = cli
  const [first] = known_by
  if (first !== undefined) note(`Found by ${known_by.length} of ${peers} connected nodes, such as ${first}.`)
  else if (peers === 0)
    note('No other node is connected, so nobody else can find it yet. It is announced when peers connect.')
  else
    note(
      `None of ${peers} connected nodes has it in its catalogue yet; ${stored} stored its record. See: souk api show <name>`
    )
  if (curl === null) note('This node has no ingress. Consumers call the API through any ingress of this network.')
}

function tellWhy(cli: Cli, { text, hint }: StatusView['reachability']): void {
  cli.terminal.note(`This node is ${text}.`)
  if (hint !== null) cli.terminal.note(hint)
}
