import { ignore } from './ignore.ts'

/** Cancels a body that nobody will read. */
export function discard(body: Uint8Array | AsyncIterable<Uint8Array>): void {
  if (!(body instanceof Uint8Array)) void body[Symbol.asyncIterator]().return?.().catch(ignore)
}
