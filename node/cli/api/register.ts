import type { RegisteredView, RegisterInput } from '../../admin/api.ts'
import type { AdminClient } from '../../admin/client.ts'
import type { Cli } from '../cli.ts'

interface Change {
  readonly field: string
  readonly from: string
  readonly to: string
}

/**
 * Registers an API. On a terminal, changes to a registered API and missing imports of a WSDL are shown and confirmed.
 * @returns undefined if the user declined
 * @throws AdminProblem, also `api_exists` and `description_incomplete` without a terminal
 */
export async function register(cli: Cli, node: AdminClient, body: RegisterInput): Promise<RegisteredView | undefined> {
  try {
    return await node.request('POST /apis', { body })
  } catch (error) {
    const asked = cli.canAsk ? questionOf(error, body) : undefined
    if (asked === undefined) throw error
    const { agreed, ...confirmation } = asked
    return (await cli.confirm(confirmation)) ? register(cli, node, { ...body, ...agreed }) : undefined
  }
}

/** What to ask after an error that a yes can prevent, and the members of the request that mean yes. */
function questionOf(
  error: unknown,
  { name, wsdl }: RegisterInput
): { question: string; consequence: string; agreed: Partial<RegisterInput> } | undefined {
  if (!(error instanceof Error) || !('problem' in error)) return undefined
  const problem = error.problem as { code: string; detail: string; changes?: readonly Change[] }
  if (problem.code === 'description_incomplete') {
    const agreed = { wsdl: { ...wsdl, incomplete: true } }
    return { question: `Publish ${name} without these documents?`, consequence: problem.detail, agreed }
  }
  if (problem.code !== 'api_exists' || problem.changes === undefined) return undefined
  const lines = problem.changes.map(({ field, from, to }) => `  ${field}: ${from} → ${to}`)
  const consequence = [`${name} is already registered here. This changes:`, ...lines].join('\n')
  return { question: `Replace ${name}?`, consequence, agreed: { replace: true } }
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
