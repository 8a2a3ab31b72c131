import { limits, type Problem, type SoukError, toProblem } from '../../lib/index.ts'

/** The problem document of a client, whose times are RFC 3339. Between nodes they are numbers of milliseconds. */
export function problemOf(error: SoukError, requestId: string): Problem {
  const problem = toProblem(error, requestId)
  const quota = problem['quota']
  if (typeof quota !== 'object' || quota === null || !('resets_at' in quota)) return problem
  const { resets_at: at, ...rest } = quota
  const isTime = typeof at === 'number' && Math.abs(at) <= limits.TIME_MS_MAX
  return { ...problem, quota: isTime ? { ...rest, resets_at: new Date(at).toISOString() } : rest }
}
