import type { ListingView, SearchInput } from '../admin/api.ts'
import type { AddCommand } from './cli.ts'
import { protocolNamed } from './protocol-option.ts'
import { table } from './table.ts'

interface SearchFlags {
  readonly protocol?: string
  readonly tag?: string
  readonly maxPrice?: string
  readonly limit?: string
  readonly cursor?: string
}

export const addSearch: AddCommand = (to, cli) => {
  to.command('search')
    .description('find APIs')
    .argument('[words...]', 'all of which appear in name, description or tags')
    .option('--protocol <protocol>', 'REST, SOAP or GraphQL', protocolNamed)
    .option('--tag <tag>', 'with this tag')
    .option('--max-price <price>', 'at most this, in USDC per call')
    .option('--limit <number>', 'how many')
    .option('--cursor <cursor>', 'where the page before ended')
    .action(async (words: readonly string[], flags: SearchFlags) => {
      const view = await (await cli.node()).search(inputOf(words, flags))
      await cli.print(view, () => lines(view.listings))
      if (view.listings.length === 0)
        cli.terminal.note('Nothing found.\nTry: fewer words, or souk peers to see who is connected')
      if (view.next !== null) cli.terminal.note(`More: --cursor ${view.next}`)
    })
}

function inputOf(words: readonly string[], flags: SearchFlags): SearchInput {
  return {
    q: words.length === 0 ? undefined : words.join(' '),
    protocol: flags.protocol,
    tag: flags.tag,
    max_price: flags.maxPrice,
    limit: flags.limit,
    cursor: flags.cursor
  }
}

function lines(listings: readonly ListingView[]): string[] {
  if (listings.length === 0) return []
  return table(
    ['API', 'PROTOCOL', 'PRICE', 'STATE', 'DESCRIPTION'],
    listings.map(({ id, protocol, price, state, description }) => [
      id,
      protocol,
      `${price} USDC`,
      state,
      brief(description)
    ])
  )
}

const BRIEF_CHARS = 60

function brief(description: string): string {
  const line = description.split('\n')[0] ?? ''
  return line.length > BRIEF_CHARS ? `${line.slice(0, BRIEF_CHARS - 1)}…` : line
}
