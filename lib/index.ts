/**
 * Souk as a library: `import { souk } from 'souk'`. Re-exports only; what is not named here is not public.
 *
 * @packageDocumentation
 */
export { type ApiId, type ApiRef, apiId, formatApiRef, isApiName, isProviderId, parseApiRef } from './base/api-name.ts'
export { equalInConstantTime, sha256, text, utf8 } from './base/bytes.ts'
export { type Clock, deadline, sleep, systemClock, type Timer } from './base/clock.ts'
export {
  asSoukError,
  ERRORS,
  type ErrorCode,
  type ErrorSource,
  isErrorCode,
  isSoukError,
  type Problem,
  SoukError,
  toProblem
} from './base/errors.ts'
export * as limits from './base/limits.ts'
export { type Atoms, formatUsdc, parseUsdc } from './base/money.ts'
export { type Random, systemRandom } from './base/random.ts'
export { formatRequestId, requestIds } from './base/request-id.ts'
