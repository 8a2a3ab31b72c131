import type { StatusView } from '../../admin/api.ts'
import type { Cli } from '../cli.ts'
import type { Failure } from '../terminal/failure.ts'

const OLDER = 'the node runs an older version of Souk than this command'

/** Why the node must be restarted, or null. Nodes of older versions do not say it. */
export function restartNeeded(status: Partial<Pick<StatusView, 'restart_needed'>>): string | null {
  return status.restart_needed === undefined ? OLDER : status.restart_needed
}

/**
 * The same failure, unless an upgrade explains it: the command is of the new version, and the node was started before. Such a node
 * leaves out fields that the command reads, or has no operation that the command needs.
 */
export async function explainOldNode(failure: Failure, cli: Cli): Promise<Failure> {
  const isMissing = failure.code === 'operation_not_found' && failure.why?.startsWith('The admin API has no ') === true
  if (failure.code !== 'internal_error' && !isMissing) return failure
  const why = await statusOf(cli).then(restartNeeded, () => null)
  if (why === null) return failure
  return {
    ...failure,
    what: 'The node must be restarted.',
    why,
    hint: 'to stop the node, and start it again with souk up'
  }
}

async function statusOf(cli: Cli): Promise<StatusView> {
  return (await cli.node()).request('GET /status')
}
