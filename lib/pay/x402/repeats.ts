import { SoukError } from '../../base/errors.ts'

/** To whoever sent the same payment while a call with it ran, which then failed: it is run again only where that is asked for. */
export const notRepeated = (): SoukError =>
  new SoukError('idempotency_in_flight', 'The same payment came with another call, which failed: send it once more.', {
    source: 'owner'
  })

/** Of a reservation whose call was answered before. */
export const unused = (): Promise<never> =>
  Promise.reject(new SoukError('internal_error', 'A call that was answered before cannot end again.'))
