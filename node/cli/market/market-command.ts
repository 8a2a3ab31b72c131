import type { MarketListingView } from '../../admin/market/market-api.ts'
import { forProfile } from '../../config.ts'
import type { AddCommand, Cli } from '../cli.ts'
import type { OperationView } from '../../admin/apis/description-api.ts'
import { addSearch, brief, callsText } from './search-command.ts'
import { plansBelow, termsFacts } from '../api/terms.ts'
import { type Column, facts, milliseconds, moment, table } from '../terminal/table.ts'

export const addMarket: AddCommand = (to, cli) => {
  const market = to.command('market').description('APIs of all providers')
  addSearch(market, cli)

  market
    .command('show')
    .description('show one API: its signed listing, and its quality on calls of this node')
    .argument('<api>', 'name, or name@provider')
    .argument('[operation]', 'show this operation with its schemas instead')
    .option('--operations', 'list all operations with their summaries')
    .action(async (api: string, operation: string | undefined, flags: { readonly operations?: boolean }) => {
      const node = await cli.node()
      if (operation !== undefined) {
        const view = await node.request('GET /listings/:id/operations/:operation', { params: { id: api, operation } })
        await cli.print(view, () => showOperation(view))
        return
      }
      const view = await node.request('GET /listings/:id', { params: { id: api } })
      await cli.print(view, () => (flags.operations === true ? table(view.methods, OPERATIONS, cli) : show(view, cli)))
    })
}

function show(view: MarketListingView, cli: Pick<Cli, 'isWide' | 'columns' | 'profile'>): string[] {
  const { quality, known_since: known } = view
  return [
    ...facts([
      ['api', view.id],
      ['state', view.state],
      ['protocol', view.protocol],
      ...termsFacts(view.price, view),
      ['your calls', callsText(view)],
      ...(quality.p95_ms === null ? [] : [['slowest 5%', `${milliseconds(quality.p95_ms)} ms or more`] as const]),
      ['quality', `${quality.score.toFixed(2)} of 1${quality.calls === 0 ? ', the start value of every API' : ''}`],
      ...(view.probed === null ? [] : [['probed', probedText(view.probed)] as const]),
      ...(view.claimed_by_owner === null ? [] : [['owner claims', claimText(view.claimed_by_owner)] as const]),
      ['known here', known === null ? 'not yet' : `since ${known.slice(0, 10)}`],
      ['signed', `revision ${view.revision}, ${moment(view.issued_at)} UTC, valid until ${moment(view.expires_at)}`],
      ['served by', view.owners.length === 0 ? 'no node found' : view.owners.join(', ')],
      ...(view.tags.length === 0 ? [] : [['tags', view.tags.join(', ')] as const]),
      ['operations', forProfile(operationsText(view), cli.profile)]
    ]),
    ...(view.description === '' ? [] : ['', view.description]),
    ...plansBelow(view, cli)
  ]
}

/** Operations named on the page of an API. */
const NAMES_SHOWN = 20

function operationsText({ name, methods, operation_count: count }: MarketListingView): string {
  if (count === 0) return '-'
  const names = methods.slice(0, NAMES_SHOWN).map((operation) => operation.name)
  const rest = count - names.length
  return rest <= 0 ? names.join(', ') : `${names.join(', ')}, and ${rest} more: souk market show ${name} --operations`
}

const OPERATIONS: ReadonlyArray<Column<MarketListingView['methods'][number]>> = [
  { head: 'OPERATION', of: ({ name }) => name, least: 40 },
  { head: 'SUMMARY', of: ({ description = '' }) => brief(description), least: 12 }
]

function showOperation({ name, description, input, output }: OperationView): string[] {
  const schema = (title: string, value: object | undefined) =>
    value === undefined ? [] : ['', `${title}:`, JSON.stringify(value, null, 2)]
  return [
    ...facts([['operation', name]]),
    ...(description === undefined ? [] : ['', description]),
    ...schema('input', input),
    ...schema('output', output)
  ]
}

/** The owner's own claim, marked as unverified. */
function claimText(claim: NonNullable<MarketListingView['claimed_by_owner']>): string {
  const { calls, days, until, success_rate: rate, p50_ms: p50, p95_ms: p95 } = claim
  const times = [p50 === null ? '' : `, half within ${p50} ms`, p95 === null ? '' : `, 95% within ${p95} ms`].join('')
  const share = (rate * 100).toFixed(rate === 1 ? 0 : 1)
  return `${share}% of ${calls} calls or more in ${days} days to ${until.slice(0, 10)}${times}; not verified`
}

function probedText(probed: NonNullable<MarketListingView['probed']>): string {
  const { probes, reached_rate: rate, p50_ms: p50, last_at: last } = probed
  const time = p50 === null ? '' : `, half within ${milliseconds(p50)} ms`
  const share = (rate * 100).toFixed(rate === 1 ? 0 : 1)
  return `reached ${share}% of ${Math.round(probes)} times${time}; last ${last.slice(0, 16).replace('T', ' ')} UTC`
}
