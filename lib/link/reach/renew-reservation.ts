import { RELAY_V2_HOP_CODEC } from '@libp2p/circuit-relay-v2'
import type { Connection } from '@libp2p/interface'
import { lpStream } from '@libp2p/utils'
import { HOP_BYTES_MAX } from '../../base/limits/reach.ts'
import { HOP_MESSAGE, HOP_OK, HOP_TYPE } from './hop-codec.ts'

/** The relay responded, and does not relay for this node. */
export class ReservationRefusedError extends Error {
  override readonly name = 'ReservationRefusedError'
}

/**
 * Renews a reservation, or makes it again where the relay forgot it. libp2p itself asks only shortly before the end.
 * @throws ReservationRefusedError if the relay refuses
 */
export async function renewReservation(connection: Connection, signal: AbortSignal): Promise<void> {
  const stream = await connection.newStream(RELAY_V2_HOP_CODEC, { signal })
  try {
    const messages = lpStream(stream, { maxDataLength: HOP_BYTES_MAX })
    await messages.write(HOP_MESSAGE.encode({ type: HOP_TYPE.reserve, status: 0 }), { signal })
    const { status } = HOP_MESSAGE.decode(await messages.read({ signal }))
    if (status !== HOP_OK) throw new ReservationRefusedError(`the relay refused with status ${status}`)
    await stream.close({ signal })
  } catch (error) {
    stream.abort(error instanceof Error ? error : new Error('the reservation failed'))
    throw error
  }
}
