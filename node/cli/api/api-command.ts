import type { ApiView } from '../../admin/api.ts'
import { addApiCheck } from './api-check-command.ts'
import { addApiRegister } from './api-register-command.ts'
import { addApiServe } from './api-serve-command.ts'
import { addApiTerms } from './api-terms-command.ts'
import type { AddCommand } from '../cli.ts'
import { plansBelow, termsFacts } from './terms.ts'
import { YES } from '../terminal/confirm.ts'
import { shortApi } from '../terminal/short-id.ts'
import { type Column, facts, type Layout, moment } from '../terminal/table.ts'

export const addApi: AddCommand = (to, cli) => {
  const api = to.command('api').description('APIs this node serves')
  addApiCheck(api, cli)
  addApiRegister(api, cli)
  addApiServe(api, cli)

  api
    .command('list')
    .description('list your APIs: price, state, calls')
    .action(async () => {
      const view = await (await cli.node()).request('GET /apis')
      await cli.list(view, view.apis, COLUMNS, {
        what: 'This node sells no API yet.',
        next: 'souk sell http://localhost:8080'
      })
      for (const reach of new Set(view.apis.map((api) => api.reach))) cli.terminal.note(`Reach: ${reach}`)
    })

  api
    .command('show')
    .description('show one API in full')
    .argument('<name>')
    .action(async (name: string) => {
      const view = await (await cli.node()).request('GET /apis/:name', { params: { name } })
      await cli.print(view, () => show(view, cli))
    })

  for (const [verb, description, done] of MOVES) {
    api
      .command(verb)
      .description(description)
      .argument('<name>')
      .action(async (name: string) => {
        const view = await (await cli.node()).request(`POST /apis/:name/${verb}`, { params: { name } })
        await cli.print(view, () => [])
        cli.terminal.note(`${view.id} ${done}.`)
      })
  }

  addApiTerms(api, cli)

  api
    .command('rm')
    .description('stop serving an API and delete its registration')
    .argument('<name>')
    .option(...YES)
    .action(async (name: string, { yes }: { yes?: boolean }) => {
      const consequence = 'Consumers can no longer call it, and its terms, plans and credentials are deleted here.'
      const node = await cli.node()
      await node.request('GET /apis/:name', { params: { name } })
      if (!(await cli.confirm({ yes, question: `Remove ${name}?`, consequence }))) return
      await node.request('DELETE /apis/:name', { params: { name } })
      await cli.print({ name, removed: true }, () => [])
      cli.terminal.note(`${name} is no longer served here.`)
    })
}

const MOVES = [
  ['pause', 'refuse calls until the API is resumed', 'is paused'],
  ['resume', 'accept calls again', 'is published again']
] as const

const COLUMNS: ReadonlyArray<Column<ApiView>> = [
  {
    head: 'NAME',
    of: ({ own, name, id }) => (own ? name : id),
    short: ({ own, name, id }) => (own ? name : shortApi(id)),
    least: 12
  },
  { head: 'PROTOCOL', of: ({ protocol }) => protocol },
  { head: 'PRICE', of: ({ price }) => `${price} USDC` },
  { head: 'STATE', of: ({ problem, state }) => (problem === null ? state : 'not served') },
  { head: 'CALLS', of: ({ calls }) => String(calls.captured) },
  { head: 'METERED', of: ({ metered }) => `${metered} USDC`, isExtra: true },
  { head: 'ENDPOINT', of: ({ endpoint }) => endpoint, least: 11 }
]

function show(api: ApiView, layout: Layout): string[] {
  const { published } = api
  const lines = facts([
    ['api', api.id],
    ['state', api.state],
    ...(api.problem === null ? [] : [['problem', api.problem] as const]),
    ...api.warnings.map((warning) => ['warning', warning] as const),
    ['protocol', api.protocol],
    ['endpoint', api.endpoint],
    ...termsFacts(api.price, api),
    ['revision', `${api.revision}, registered ${moment(api.registered_at)} UTC`],
    ['announced', published === null ? 'not yet' : `to ${published.stored} of ${published.asked} peers`],
    ['reach', api.reach],
    ['calls', `${api.calls.captured} done, ${api.calls.voided} not charged, ${api.in_flight} running`],
    ['money', `${api.metered} USDC metered, ${api.charged} USDC charged`],
    ['operations', api.operations.length === 0 ? '-' : api.operations.join(', ')],
    ...(api.tags.length === 0 ? [] : [['tags', api.tags.join(', ')] as const]),
    ...(api.description === '' ? [] : [['description', api.description] as const])
  ])
  return [...lines, ...plansBelow(api, layout)]
}
