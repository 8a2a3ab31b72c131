import assert from 'node:assert/strict'
import { isSoukError, type SoukError } from '../../client/index.ts'

/** Rejects as `code`, and returns the error. */
export async function fails(call: Promise<unknown>, code: string): Promise<SoukError> {
  const error = await call.then(
    () => assert.fail('it succeeded'),
    (thrown: unknown) => thrown
  )
  assert.ok(isSoukError(error), String(error))
  assert.equal(error.code, code, error.message)
  return error
}
