import type { ReceiptsInput, ReceiptView } from '../../admin/money/money-api.ts'
import type { AdminClient } from '../../admin/client.ts'
import type { AddCommand } from '../cli.ts'
import { type Cell, csvLine } from '../terminal/csv.ts'
import { wholeNumber } from '../options/number-option.ts'
import { shortApi } from '../terminal/short-id.ts'
import { type Column, moment } from '../terminal/table.ts'
import { timeAgoOrAt } from '../options/time-option.ts'
import { UsageError } from '../terminal/usage-error.ts'
import { addReceiptsVerify } from './receipts-verify-command.ts'

interface ReceiptFlags {
  readonly role?: string
  readonly api?: string
  readonly since?: number
  readonly until?: number
  readonly limit?: number
  readonly csv?: boolean
}

/** Default number of receipts for people. Exports have no default limit. */
const SHOWN = 50
const PAGE = 1_000

export const addReceipts: AddCommand = (to, cli) => {
  const receipts = to.command('receipts')
  addReceiptsVerify(receipts, cli)
  receipts
    .description('list calls that this node paid for or was paid for, newest first')
    .option('--role <role>', 'payer or owner (default: payer, then owner)')
    .option('--api <name>', 'only this API; name or name@provider')
    .option('--since <time>', 'like 2026-11-21, 2026-11-21T10:00Z or 7d', timeAgoOrAt)
    .option('--until <time>', 'end time, exclusive', timeAgoOrAt)
    .option('--limit <number>', `maximum per role (default: ${SHOWN}, all with --csv and --json)`, wholeNumber)
    .option('--csv', 'comma-separated, amounts in USDC, times in ISO 8601')
    .action(async ({ role, csv, limit, ...filter }: ReceiptFlags) => {
      const node = await cli.node()
      const most = limit ?? (csv === true || cli.json ? Infinity : SHOWN)
      const found = allOf(node, rolesOf(role), filter, most)
      if (csv === true) {
        await cli.terminal.write(csvLine(COLUMNS))
        for await (const receipt of found) await cli.terminal.write(csvLine(cells(receipt)))
        return
      }
      const receipts: ReceiptView[] = []
      for await (const receipt of found) receipts.push(receipt)
      await cli.list({ receipts }, receipts, LIST, {
        what: 'No call was charged.',
        next: 'souk search, then souk call <name>; or souk sell <url>, to be paid'
      })
      if (!cli.json && limit === undefined && receipts.length >= SHOWN)
        cli.terminal.note('There may be more receipts: use --limit')
      if (receipts.some(({ signature }) => signature === 'invalid')) {
        cli.terminal.note('warning: a receipt lacks a valid signature of the paid owner.')
      }
    })
}

function rolesOf(role: string | undefined): ReadonlyArray<'payer' | 'owner'> {
  if (role === undefined) return ['payer', 'owner']
  if (role === 'payer' || role === 'owner') return [role]
  throw new UsageError(`Unknown role "${role}".`, '--role payer or --role owner')
}

type Filter = Pick<ReceiptsInput, 'api' | 'since' | 'until'>

async function* allOf(
  node: AdminClient,
  roles: ReadonlyArray<'payer' | 'owner'>,
  filter: Filter,
  most: number
): AsyncGenerator<ReceiptView> {
  for (const role of roles) {
    let cursor: string | undefined
    let left = most
    do {
      const page = await node.request('GET /receipts', {
        query: { ...filter, role, limit: Math.min(left, PAGE), cursor }
      })
      yield* page.receipts
      left -= page.receipts.length
      cursor = page.next ?? undefined
    } while (cursor !== undefined && left > 0)
  }
}

const COLUMNS = [
  'role',
  'request_id',
  'time',
  'api',
  'peer',
  'channel',
  'status',
  'charged',
  'rule',
  'signature',
  'proof'
]

function cells(receipt: ReceiptView): Cell[] {
  const { role, request_id: id, at, api, peer, channel, status, charged, rule, signature, proof } = receipt
  return [role, id, new Date(at).toISOString(), api, peer, channel, status, charged, rule, signature, proof]
}

const LIST: ReadonlyArray<Column<ReceiptView>> = [
  { head: 'ROLE', of: ({ role }) => role },
  { head: 'TIME (UTC)', of: ({ at }) => moment(at) },
  { head: 'API', of: ({ api }) => api, short: ({ api }) => shortApi(api), least: 12 },
  { head: 'STATUS', of: ({ status }) => String(status) },
  { head: 'CHARGED', of: ({ charged }) => `${charged} USDC` },
  { head: 'RULE', of: ({ rule }) => rule ?? '', isExtra: true },
  { head: 'SIGNATURE', of: ({ signature }) => signature },
  { head: 'REQUEST', of: ({ request_id: id }) => id, isExtra: true }
]
