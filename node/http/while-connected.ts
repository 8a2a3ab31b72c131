import type { ServerResponse } from 'node:http'
import { SoukError } from '../../lib/index.ts'

/** Aborts if the client disconnects before its response is complete. */
export function whileConnected(res: ServerResponse): AbortSignal {
  const gone = new AbortController()
  res.on('close', () => {
    if (!res.writableFinished) gone.abort(new SoukError('call_interrupted', 'The client disconnected.'))
  })
  return gone.signal
}
