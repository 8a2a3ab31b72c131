import type { Command } from 'commander'
import type { IssuedKeyView, KeyView } from '../../admin/accounts/key-api.ts'
import type { AdminClient } from '../../admin/client.ts'
import type { AddCommand, Cli } from '../cli.ts'
import { decimal, duration } from '../options/number-option.ts'
import { addRateOptions, type RateFlags, rateInputOf, rateText } from '../options/rate-option.ts'
import { allPages } from '../options/all-pages.ts'
import { YES } from '../terminal/confirm.ts'
import { failureOf } from '../terminal/failure.ts'
import { type Column, facts, moment } from '../terminal/table.ts'
import { UsageError } from '../terminal/usage-error.ts'

interface IssueOptions extends RateFlags {
  readonly label?: string
  readonly expiresIn?: number
  readonly maxPrice?: string
  readonly dailyCap?: string
  readonly api?: string[]
  readonly account?: string
  readonly manages?: boolean
  readonly openChannels?: boolean
}

export const addKey: AddCommand = (to, cli) => {
  const key = to.command('key').description('consumer keys of this node’s ingress')

  const issue = key
    .command('issue')
    .description('create a key; it is shown only once')
    .option('--label <text>', 'name of the user or program')
    .option('--expires-in <duration>', 'lifetime, like 30d, 12h or 15m (default: no expiry)', duration)
    .option('--max-price <usdc>', 'refuse more expensive calls (default: 0.05)', decimal)
    .option('--daily-cap <usdc>', 'spending limit per day, UTC (default: 1)', decimal)
    .option('--api <id...>', 'APIs that it may call, name@provider or a bare name (default: all)')
    .option('--account <id>', 'prepaid account that pays (default: this node’s wallet)')
    .option('--open-channels', 'with --api: make the deposits now, so that the first calls do not wait for them')
    .option('--manages', 'with --account: the key may also manage the account')
  addRateOptions(issue, 'rate limit of the key').action(
    async ({ label, expiresIn, maxPrice, dailyCap, api, account, manages, openChannels, ...rate }: IssueOptions) => {
      if (openChannels === true && api === undefined) throw new UsageError('--open-channels needs --api.')
      if (manages === true && account === undefined) throw new UsageError('--manages needs --account.')
      const node = await cli.node()
      const issued = await node.request('POST /keys', {
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
      if (openChannels === true) for (const each of api ?? []) await openChannel(cli, node, each)
    }
  )

  key
    .command('list')
    .description('list keys, without the keys themselves')
    .action(async () => {
      const node = await cli.node()
      const pages = await allPages((cursor) => node.request('GET /keys', { query: { cursor } }))
      const { demo } = pages[0]
      // Oldest first, so that the newest key is next to the prompt.
      const keys = pages.flatMap((page) => page.keys).toReversed()
      await cli.list({ keys, demo }, keys, COLUMNS, {
        what: 'No consumer key exists yet.',
        next: 'souk key issue --label my-program'
      })
      if (demo !== null) cli.terminal.note(`The public demo key ${demo.key} may call ${demo.apis.join(', ')}.`)
    })

  key
    .command('show')
    .description('show one key')
    .argument('<id>', 'key id from souk key list')
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
  readonly yes?: boolean
  readonly expiresIn?: number
}

function addRotate(key: Command, cli: Cli): void {
  key
    .command('rotate')
    .description('replace a key by a new one; the old key stays valid for the overlap')
    .argument('<id>', 'key id from souk key list')
    .option('--overlap <duration>', 'how long the old key stays valid (default: 24h)', duration)
    .option('--now', 'revoke the old key at once')
    .option(...YES)
    .option('--expires-in <duration>', 'lifetime of the new key (default: the lifetime of the old key)', duration)
    .action(async (id: string, { overlap, now, yes, expiresIn }: RotateOptions) => {
      const question = `Revoke ${id} at once?`
      const node = await cli.node()
      if (now === true) {
        await node.request('GET /keys/:id', { params: { id } })
        if (!(await cli.confirm({ yes, question, consequence: 'Calls with it are refused.' }))) return
      }
      const issued = await node.request('POST /keys/:id/rotate', {
        params: { id },
        body: {
          overlap_ms: now === true ? 0 : overlap,
          expires_at: expiresIn === undefined ? undefined : Date.now() + expiresIn
        }
      })
      await printIssued(cli, issued)
      cli.note(now === true ? `${id} is revoked.` : `${id} stays valid until its overlap ends: souk key show ${id}`)
    })
}

function addMoves(key: Command, cli: Cli): void {
  const moves = [
    ['disable', 'refuse calls with a key until it is enabled again', 'POST /keys/:id/disable', 'disabled'],
    ['enable', 'allow calls with a disabled key again', 'POST /keys/:id/enable', 'enabled']
  ] as const
  for (const [name, description, route, done] of moves) {
    key
      .command(name)
      .description(description)
      .argument('<id>', 'key id from souk key list')
      .action(async (id: string) => {
        const moved = await (await cli.node()).request(route, { params: { id } })
        await cli.print(moved, () => [])
        cli.terminal.note(`${moved.id} is ${done}.`)
      })
  }

  key
    .command('revoke')
    .description('revoke a key for good')
    .argument('<id>', 'key id from souk key list')
    .option(...YES)
    .action(async (id: string, { yes }: { yes?: boolean }) => {
      const consequence = 'Calls with it are refused from now on. It cannot be enabled again.'
      const node = await cli.node()
      await node.request('GET /keys/:id', { params: { id } })
      if (!(await cli.confirm({ yes, question: `Revoke ${id}?`, consequence }))) return
      const moved = await node.request('DELETE /keys/:id', { params: { id } })
      await cli.print(moved, () => [])
      cli.terminal.note(`${moved.id} is revoked.`)
    })
}

/** The key is valid without it. */
async function openChannel(cli: Cli, node: AdminClient, api: string): Promise<void> {
  try {
    const { deposit } = await node.request('POST /channels', { body: { api } })
    cli.note(`The channel for ${api} is open, with ${deposit} USDC.`)
  } catch (error) {
    const { what, why = what } = failureOf(error)
    cli.note(`warning: no channel for ${api}: ${why} Try: souk channel open ${api}`)
  }
}

async function printIssued(cli: Cli, issued: IssuedKeyView): Promise<void> {
  await cli.print(issued, () => [issued.key])
  cli.terminal.note(`Key ${issued.id}. It is not shown again. Send it as X-Consumer-Key.`)
}

const COLUMNS: ReadonlyArray<Column<KeyView>> = [
  { head: 'ID', of: ({ id }) => id },
  { head: 'KEY', of: ({ hint }) => hint, isExtra: true },
  { head: 'STATE', of: ({ state }) => state },
  { head: 'MAX PRICE', of: ({ max_price: price }) => price },
  { head: 'DAILY CAP', of: ({ daily_cap: cap }) => cap },
  { head: 'LABEL', of: ({ label }) => label, least: 5 },
  { head: 'APIS', of: ({ apis }) => apis?.join(',') ?? 'any', short: ({ apis }) => namesOf(apis), least: 4 },
  { head: 'MADE (UTC)', of: ({ created_at: at }) => moment(at), isExtra: true },
  { head: 'EXPIRES (UTC)', of: (key) => moment(endOf(key)), isExtra: true },
  { head: 'LAST USED (UTC)', of: ({ last_used_at: at }) => moment(at), isExtra: true }
]

function namesOf(apis: KeyView['apis']): string {
  return apis?.map((api) => api.split('@')[0]).join(',') ?? 'any'
}

function endOf({ retires_at: retires, expires_at: expires }: KeyView): number | null {
  return retires ?? expires
}

function factsOf(key: KeyView): string[] {
  const maybe = (name: string, value: string | null): Array<readonly [string, string]> =>
    value === null ? [] : [[name, value]]
  return facts([
    ['key', `${key.id}  ${key.hint}`],
    ['state', key.state],
    ['label', key.label === '' ? '-' : key.label],
    ['may call', key.apis === null ? 'all APIs' : key.apis.join(', ')],
    ['max price', `${key.max_price} USDC`],
    ['daily cap', `${key.daily_cap} USDC`],
    ['rate', rateText(key.rate_limit)],
    ['paid by', key.account ?? 'this node'],
    ...(key.account === null ? [] : [['manages it', key.manages ? 'yes' : 'no'] as const]),
    ['made (UTC)', moment(key.created_at)],
    ['expires (UTC)', moment(key.expires_at)],
    ...maybe('overlap ends (UTC)', key.retires_at === null ? null : moment(key.retires_at)),
    ...maybe('replaces', key.replaces),
    ...maybe('replaced by', key.successor),
    ['last used (UTC)', moment(key.last_used_at)]
  ])
}
