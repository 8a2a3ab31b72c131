import { type CallValues, loadCheck } from './check-runtime.ts'
import type { SchemaProblem } from './schema-problem.ts'

/** Like `CallCheck.problemOf` without a step limit, because its worker limits the time. */
export function checkCall({
  code,
  values
}: {
  readonly code: string
  readonly values: CallValues
}): SchemaProblem | undefined {
  return loadCheck(code)(values, Infinity)
}
