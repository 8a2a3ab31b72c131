import { type CallProblem, type CallValues, loadCheck } from './check-runtime.ts'

/** Like `CallCheck.problemOf` without a step limit, because its worker limits the time. */
export function checkCall({
  code,
  values
}: {
  readonly code: string
  readonly values: CallValues
}): CallProblem | undefined {
  return loadCheck(code)(values, Infinity)
}
