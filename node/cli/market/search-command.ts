import type { FoundListingView, GradedListingView, SearchInput } from '../../admin/market/market-api.ts'
import { PROTOCOLS_TEXT } from '../../../protocols/protocol-descriptors.ts'
import type { AddCommand } from '../cli.ts'
import { similarApis } from '../did-you-mean.ts'
import { decimal, wholeNumber } from '../options/number-option.ts'
import { protocolOption } from '../options/protocol-option.ts'
import { shortApi } from '../terminal/short-id.ts'
import { didYouMeanText } from '../terminal/similar.ts'
import { type Column, milliseconds, table } from '../terminal/table.ts'
import { UsageError } from '../terminal/usage-error.ts'

/** A copy of the library's list, because an import would load the whole library at each start of the CLI. */
const SORTS = ['relevance', 'quality', 'price', 'latency', 'new'] as const satisfies ReadonlyArray<
  NonNullable<SearchInput['sort']>
>

interface SearchFlags {
  readonly protocol?: string
  readonly tag?: string
  readonly provider?: string
  readonly maxPrice?: string
  readonly minQuality?: number
  readonly sort?: SearchInput['sort']
  readonly limit?: number
  readonly cursor?: string
}

export const addSearch: AddCommand = (to, cli) => {
  to.command('search')
    .description('find APIs and operations')
    .argument('[words...]', 'word prefixes; all must match in name, description or tags, or in one operation')
    .option('--protocol <protocol>', PROTOCOLS_TEXT, protocolOption)
    .option('--tag <tag>', 'with this tag')
    .option('--provider <id>', 'APIs of this provider by name, from its own nodes')
    .option('--max-price <price>', 'maximum price in USDC per call', decimal)
    .option('--min-quality <number>', 'minimum quality, 0 to 1, measured by calls of this node', qualityOf)
    .option('--sort <order>', `${SORTS.join(', ')} (default: relevance)`, sortNamed)
    .option('--limit <number>', 'maximum number of results', wholeNumber)
    .option('--cursor <cursor>', 'cursor from the previous page')
    .action(async (words: readonly string[], flags: SearchFlags) => {
      const view = await (await cli.node()).request('GET /search', { query: inputOf(words, flags) })
      const mayBeMistyped = view.listings.length === 0 && words.length > 0
      const similar = mayBeMistyped ? await similarApis(cli, words.join('-')) : []
      const isAll = words.length === 0 && Object.keys(flags).length === 0
      const matching = view.listings.flatMap(({ id, matching_operations: all }) => all.map((each) => ({ id, ...each })))
      const empty = {
        what: isAll
          ? 'This node knows no API yet.'
          : `No API found.${similar.length === 0 ? '' : ` ${didYouMeanText(similar)}`}`,
        next: isAll
          ? 'souk doctor, which looks at peers and clock; new listings arrive within seconds'
          : 'fewer words or options, or souk search to list all APIs'
      }
      const below = matching.length === 0 ? [] : ['', ...table(matching, MATCHING, cli)]
      await cli.list(view, view.listings, COLUMNS, empty, below)
      if (view.next !== null) cli.terminal.note(`More: --cursor ${view.next}`)
    })
}

function sortNamed(text: string): SearchInput['sort'] {
  const sort = SORTS.find((known) => known === text)
  if (sort === undefined) throw new UsageError(`"${text}" is not a sort order.`, `--sort ${SORTS.join(', or ')}`)
  return sort
}

function qualityOf(text: string): number {
  const quality = text.trim() === '' ? Number.NaN : Number(text)
  if (!(quality >= 0 && quality <= 1))
    throw new UsageError(`"${text}" is not a quality from 0 to 1.`, '--min-quality 0.9')
  return quality
}

function inputOf(words: readonly string[], flags: SearchFlags): SearchInput {
  return {
    q: words.length === 0 ? undefined : words.join(' '),
    protocol: flags.protocol,
    tag: flags.tag,
    provider: flags.provider,
    max_price: flags.maxPrice,
    min_quality: flags.minQuality,
    sort: flags.sort,
    limit: flags.limit,
    cursor: flags.cursor
  }
}

const COLUMNS: ReadonlyArray<Column<FoundListingView>> = [
  { head: 'API', of: ({ id }) => id, short: ({ id }) => shortApi(id), least: 20 },
  { head: 'PROTOCOL', of: ({ protocol }) => protocol },
  { head: 'PRICE', of: ({ price }) => `${price} USDC` },
  { head: 'STATE', of: ({ state }) => state, isExtra: true },
  { head: 'YOUR CALLS', of: callsText, short: successText, least: 10 },
  { head: 'DESCRIPTION', of: ({ description }) => brief(description), least: 14 }
]

interface MatchingOperation {
  readonly id: string
  readonly name: string
  readonly summary?: string | undefined
}

const MATCHING: ReadonlyArray<Column<MatchingOperation>> = [
  { head: 'API', of: ({ id }) => id, short: ({ id }) => shortApi(id), least: 22 },
  { head: 'MATCHING OPERATION', of: ({ name }) => name, least: 24 },
  { head: 'SUMMARY', of: ({ summary = '' }) => brief(summary), least: 11 }
]

/** Success rate and median latency on calls of this node. */
export function callsText({ quality }: Pick<GradedListingView, 'quality'>): string {
  const { p50_ms: p50 } = quality
  const how = successText({ quality })
  return p50 === null ? how : `${how}, ${milliseconds(p50)} ms`
}

function successText({ quality: { calls, success_rate: rate } }: Pick<GradedListingView, 'quality'>): string {
  if (rate === null) return 'none'
  return `${(rate * 100).toFixed(rate === 1 ? 0 : 1)}% of ${calls < 10 ? calls : Math.round(calls)}`
}

const BRIEF_CHARS = 60

/** First line of a description, for a table. */
export function brief(description: string): string {
  const line = description.split('\n')[0] ?? ''
  return line.length > BRIEF_CHARS ? `${line.slice(0, BRIEF_CHARS - 1)}…` : line
}
