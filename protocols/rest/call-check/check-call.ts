import { type CallProblem, type CallValues, loadCheck } from './check-runtime.ts'

/** As `CallCheck.problemOf`, for as many steps as it takes. Its worker bounds the time. */
export function checkCall({
  code,
  values
}: {
  readonly code: string
  readonly values: CallValues
}): CallProblem | undefined {
  return loadCheck(code)(values, Infinity)
}
