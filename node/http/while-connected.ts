import type { ServerResponse } from 'node:http'
import { SoukError } from '../../lib/index.ts'

/** Aborts if the client disconnects before its response is complete. */
export function whileConnected(res: ServerResponse): AbortSignal {
  const gone = new AbortController()
  const onClose = () => {
    if (!res.writableFinished) gone.abort(new SoukError('call_interrupted', 'The client disconnected.'))
  }
  if (res.destroyed) onClose()
  else res.on('close', onClose)
  return gone.signal
}
