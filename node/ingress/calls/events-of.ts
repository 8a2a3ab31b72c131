import type { CallReply } from '../../../lib/interface/index.ts'

/** The server-sent events of a reply. Undefined if it has none, or failed. */
export function eventsOf({ status, headers, body }: CallReply): AsyncIterable<Uint8Array> | undefined {
  const type = headers.find(([name]) => name === 'content-type')?.[1]
  if (status !== 200 || type?.startsWith('text/event-stream') !== true) return undefined
  return body instanceof Uint8Array ? once(body) : body
}

async function* once(body: Uint8Array): AsyncGenerator<Uint8Array> {
  yield body
}
