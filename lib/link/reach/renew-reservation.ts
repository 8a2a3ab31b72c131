import { RELAY_V2_HOP_CODEC } from '@libp2p/circuit-relay-v2'
import type { Connection } from '@libp2p/interface'
import { lpStream } from '@libp2p/utils'
import { DIAL_BACK_BYTES_MAX } from '../../base/limits/reach.ts'
import { uint32 } from '../../base/wire/field.ts'
import { message } from '../../base/wire/message.ts'

/** `HopMessage` with `type = RESERVE` (circuit relay v2, section "Reservation"). libp2p does not export its codec. */
const RESERVE = Uint8Array.of(0x08, 0x00)
/** `Status.OK` */
const OK = 100

const HOP_MESSAGE = message('HopMessage', 'The relay’s response.', { status: uint32(5) })

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
    const messages = lpStream(stream, { maxDataLength: DIAL_BACK_BYTES_MAX })
    await messages.write(RESERVE, { signal })
    const { status } = HOP_MESSAGE.decode(await messages.read({ signal }))
    if (status !== OK) throw new ReservationRefusedError(`the relay refused with status ${status}`)
    await stream.close({ signal })
  } catch (error) {
    stream.abort(error instanceof Error ? error : new Error('the reservation failed'))
    throw error
  }
}
