import type { Command } from 'commander'
import type { IssuedKeyView, KeysView, KeyView } from '../../admin/accounts/key-api.ts'
import type { AddCommand, Cli } from '../cli.ts'
import { decimal, duration } from '../options/number-option.ts'
import { addRateOptions, type RateFlags, rateInputOf, rateText } from '../options/rate-option.ts'
import { facts, moment, table } from '../terminal/table.ts'

interface IssueOptions extends RateFlags {
  readonly label?: string
  readonly expiresIn?: number
  readonly maxPrice?: string
  readonly dailyCap?: string
  readonly api?: string[]
  readonly account?: string
  readonly manages?: boolean
}

export const addKey: AddCommand = (to, cli) => {
  const key = to.command('key').description('consumer keys of this node’s ingress')

  const issue = key
    .command('issue')
    .description('make a key; it is shown this once')
    .option('--label <text>', 'whose it is')
    .option('--expires-in <duration>', 'like 30d, 12h or 15m (default: never)', duration)
    .option('--max-price <usdc>', 'refuse dearer calls (default: 0.05)', decimal)
    .option('--daily-cap <usdc>', 'what its calls may cost in a day, UTC (default: 1)', decimal)
    .option('--api <id...>', 'all that it may call, name@provider or a bare name (default: anything)')
    .option('--account <id>', 'the prepaid account that pays (default: this node’s wallet)')
    .option('--manages', 'with --account: the key may also manage it')
  addRateOptions(issue, 'calls of the key').action(
    async ({ label, expiresIn, maxPrice, dailyCap, api, account, manages, ...rate }: IssueOptions) => {
      const issued = await (await cli.node()).request('POST /keys', {
        body: {
          label,
          expires_at: expiresIn === undefined ? undefined : Date.now() + expiresIn,
          max_price: maxPrice,
          daily_cap: dailyCap,
          apis: api,
          account,
          manages,
          rate_limit: rateInputOf(rate)
        }
      })
      await printIssued(cli, issued)
    }
  )

  key
    .command('list')
    .description('keys, without the keys themselves')
    .action(async () => {
      const view = await (await cli.node()).request('GET /keys')
      await cli.print(view, () => lines(view.keys))
      const { demo } = view
      if (demo !== null) cli.terminal.note(`Everybody has ${demo.key}, for ${demo.apis.join(', ')}.`)
    })

  key
    .command('show')
    .description('show one of them')
    .argument('<id>', 'as key list shows it')
    .action(async (id: string) => {
      const view = await (await cli.node()).request('GET /keys/:id', { params: { id } })
      await cli.print(view, () => factsOf(view))
    })

  addRotate(key, cli)
  addMoves(key, cli)
}

interface RotateOptions {
  readonly overlap?: number
  readonly now?: boolean
  readonly expiresIn?: number
}

function addRotate(key: Command, cli: Cli): void {
  key
    .command('rotate')
    .description('make a key that takes the place of another, which works on for a while')
    .argument('<id>', 'as key list shows it')
    .option('--overlap <duration>', 'how long the old one works, like 24h (default: 24h)', duration)
    .option('--now', 'end the old one at once')
    .option('--expires-in <duration>', 'of the new one (default: as long as the old one was to live)', duration)
    .action(async (id: string, { overlap, now, expiresIn }: RotateOptions) => {
      const issued = await (await cli.node()).request('POST /keys/:id/rotate', {
        params: { id },
        body: {
          overlap_ms: now === true ? 0 : overlap,
          expires_at: expiresIn === undefined ? undefined : Date.now() + expiresIn
        }
      })
      await printIssued(cli, issued)
      cli.terminal.note(
        now === true ? `${id} works no more.` : `${id} works until its overlap ends: see key show ${id}.`
      )
    })
}

function addMoves(key: Command, cli: Cli): void {
  const moves = [
    ['disable', 'refuse calls with a key until it is enabled again', 'POST /keys/:id/disable', 'disabled'],
    ['enable', 'let a disabled key call again', 'POST /keys/:id/enable', 'enabled'],
    ['revoke', 'end a key; calls with it are refused from now on', 'DELETE /keys/:id', 'revoked']
  ] as const
  for (const [name, description, route, done] of moves) {
    key
      .command(name)
      .description(description)
      .argument('<id>', 'as key list shows it')
      .action(async (id: string) => {
        const moved = await (await cli.node()).request(route, { params: { id } })
        await cli.print(moved, () => [])
        cli.terminal.note(`${moved.id} is ${done}.`)
      })
  }
}

async function printIssued(cli: Cli, issued: IssuedKeyView): Promise<void> {
  await cli.print(issued, () => [issued.key])
  cli.terminal.note(`This is ${issued.id}. The key is not shown again; send it as X-Consumer-Key.`)
}

function lines(keys: KeysView['keys']): string[] {
  return table(
    ['ID', 'KEY', 'STATE', 'MAX PRICE', 'DAILY CAP', 'LABEL', 'APIS', 'MADE (UTC)', 'EXPIRES', 'LAST USED'],
    keys.map((key) => [
      key.id,
      key.hint,
      key.state,
      key.max_price,
      key.daily_cap,
      key.label === '' ? '-' : key.label,
      key.apis === null ? 'any' : key.apis.map((api) => api.split('@')[0] ?? api).join(','),
      moment(key.created_at),
      moment(key.retires_at ?? key.expires_at),
      moment(key.last_used_at)
    ])
  )
}

function factsOf(key: KeyView): string[] {
  const maybe = (name: string, value: string | null): Array<readonly [string, string]> =>
    value === null ? [] : [[name, value]]
  return facts([
    ['key', `${key.id}  ${key.hint}`],
    ['state', key.state],
    ['label', key.label === '' ? '-' : key.label],
    ['may call', key.apis === null ? 'anything' : key.apis.join(', ')],
    ['dearest call', `${key.max_price} USDC`],
    ['daily cap', `${key.daily_cap} USDC`],
    ['rate', rateText(key.rate_limit)],
    ['paid by', key.account ?? 'this node'],
    ...(key.account === null ? [] : [['manages it', key.manages ? 'yes' : 'no'] as const]),
    ['made (UTC)', moment(key.created_at)],
    ['expires', moment(key.expires_at)],
    ...maybe('overlap ends', key.retires_at === null ? null : moment(key.retires_at)),
    ...maybe('took the place of', key.replaces),
    ...maybe('followed by', key.successor),
    ['last used', moment(key.last_used_at)]
  ])
}
