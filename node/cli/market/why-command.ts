import type { WhyView } from '../../admin/market/market-api.ts'
import { forProfile } from '../../config.ts'
import type { AddCommand } from '../cli.ts'
import { similarApis } from '../did-you-mean.ts'
import { EXIT } from '../terminal/exit-code.ts'
import { facts } from '../terminal/table.ts'

export const addWhy: AddCommand = (to, cli) => {
  to.command('why')
    .description('explain why an API is not found or cannot be called; exits 1 if it cannot')
    .argument('<api>', 'name, or name@provider')
    .action(async (api: string) => {
      const view = await (await cli.node()).request('GET /why/:id', { params: { id: api } })
      const similar = view.step === 'no_provider_record' ? await similarApis(cli, api) : []
      await cli.print({ ...view, ...(similar.length === 0 ? {} : { did_you_mean: similar }) }, () =>
        lines(view, similar, cli.profile)
      )
      if (!view.callable) cli.exitCode = EXIT.failed
    })
}

function lines(
  { api, id, step, detail, owners, candidates, hint }: WhyView,
  similar: readonly string[],
  profile: string | undefined
): string[] {
  return facts([
    ['api', id ?? api],
    ['step', step],
    ['means', detail],
    ...owners.map((owner) => ['served by', owner] as const),
    ...candidates.map((candidate) => ['candidate', idOf(candidate)] as const),
    ...(similar.length === 0 ? [] : [['perhaps', similar.join(', ')] as const]),
    ...(hint === null ? [] : [['try', forProfile(hint, profile)] as const])
  ])
}

function idOf(candidate: unknown): string {
  const isNamed = typeof candidate === 'object' && candidate !== null && 'id' in candidate
  return isNamed ? String(candidate.id) : JSON.stringify(candidate)
}
