import type { RegisteredView, RegisterInput } from '../../admin/api.ts'
import type { AdminClient } from '../../admin/client.ts'
import type { Cli } from '../cli.ts'

interface Change {
  readonly field: string
  readonly from: string
  readonly to: string
}

/**
 * Registers an API. On a terminal, changes to a registered API are shown and confirmed.
 * @returns undefined if the user declined
 * @throws AdminProblem, also `api_exists` without a terminal
 */
export async function register(cli: Cli, node: AdminClient, body: RegisterInput): Promise<RegisteredView | undefined> {
  try {
    return await node.request('POST /apis', { body })
  } catch (error) {
    const changes = changesIn(error)
    if (changes === undefined || !cli.canAsk) throw error
    const lines = changes.map(({ field, from, to }) => `  ${field}: ${from} → ${to}`)
    const consequence = [`${body.name} is already registered here. This changes:`, ...lines].join('\n')
    const isConfirmed = await cli.confirm({ question: `Replace ${body.name}?`, consequence })
    return isConfirmed ? node.request('POST /apis', { body: { ...body, replace: true } }) : undefined
  }
}

function changesIn(error: unknown): readonly Change[] | undefined {
  if (!(error instanceof Error) || !('problem' in error)) return undefined
  const { code, changes } = error.problem as { code: string; changes?: readonly Change[] }
  return code === 'api_exists' ? changes : undefined
}

export async function tellRegistered(cli: Cli, view: RegisteredView): Promise<void> {
  const { api, updated, warnings } = view
  for (const warning of warnings) cli.terminal.note(`warning: ${warning}`)
  await cli.print(view, () => [api.id])
  const many = api.operations.length
  const found = many === 0 ? '' : `, ${many} operation${many === 1 ? '' : 's'}`
  const events = api.price_per_event === null ? '' : ` and ${api.price_per_event} USDC per event`
  cli.terminal.note(
    `${updated ? 'Updated' : 'Registered'} ${api.name}: ${api.protocol}${found}, ${api.price} USDC per call${events}, ${api.state}.`
  )
  if (api.published === null || api.published.stored === 0) {
    cli.terminal.note('No peer is connected yet. The API is announced when peers connect.')
  }
}
