import type { WhyView } from '../../admin/market/market-api.ts'
import type { AddCommand } from '../cli.ts'
import { EXIT } from '../terminal/exit-code.ts'
import { facts } from '../terminal/table.ts'

export const addWhy: AddCommand = (to, cli) => {
  to.command('why')
    .description('explain why an API is not found or cannot be called; exits 1 if it cannot')
    .argument('<api>', 'name, or name@provider')
    .action(async (api: string) => {
      const view = await (await cli.node()).request('GET /why/:id', { params: { id: api } })
      await cli.print(view, () => lines(view))
      if (!view.callable) cli.exitCode = EXIT.failed
    })
}

function lines({ api, id, step, detail, owners, candidates, hint }: WhyView): string[] {
  return facts([
    ['api', id ?? api],
    ['step', step],
    ['means', detail],
    ...owners.map((owner) => ['served by', owner] as const),
    ...candidates.map((candidate) => ['candidate', idOf(candidate)] as const),
    ...(hint === null ? [] : [['try', hint] as const])
  ])
}

function idOf(candidate: unknown): string {
  const isNamed = typeof candidate === 'object' && candidate !== null && 'id' in candidate
  return isNamed ? String(candidate.id) : JSON.stringify(candidate)
}
