import { decodeMessage, encodeMessage } from 'protons-runtime'
import { EMPTY_BYTES } from '../../base/bytes.ts'
import { SoukError } from '../../base/errors.ts'
import { fromHex, toHex } from '../../base/hex.ts'
import { bytesTag, codec, varintTag, writeBytes, writeInteger } from '../../base/wire.ts'
import type { Voucher } from '../../interface/channel.ts'

/** `souk.Authorization` of `docs/reference/souk-pay.proto`: the payer sends it with each call. */

interface AuthorizationMessage {
  channel: Uint8Array
  ceiling: bigint
  signature: Uint8Array
}

const authorizationCodec = codec<AuthorizationMessage>({
  start: () => ({ channel: EMPTY_BYTES, ceiling: 0n, signature: EMPTY_BYTES }),
  write(value, writer) {
    writeBytes(writer, 1, value.channel)
    writeInteger(writer, 2, value.ceiling)
    writeBytes(writer, 3, value.signature)
  },
  read(value, tag, reader) {
    if (tag === bytesTag(1)) value.channel = reader.bytes()
    else if (tag === varintTag(2)) value.ceiling = reader.uint64()
    else if (tag === bytesTag(3)) value.signature = reader.bytes()
    else return false
    return true
  }
})

const CHANNEL_ID_BYTES = 32

export function encodeAuthorization({ channelId, ceiling, signature }: Voucher): Uint8Array {
  return encodeMessage({ channel: fromHex(channelId, CHANNEL_ID_BYTES), ceiling, signature }, authorizationCodec)
}

/** Checks only the form; the channel checks the signature. @throws SoukError `payment_malformed` */
export function decodeAuthorization(bytes: Uint8Array): Voucher {
  try {
    const { channel, ceiling, signature } = decodeMessage(bytes, authorizationCodec)
    if (channel.length === CHANNEL_ID_BYTES && ceiling <= CEILING_MAX) {
      // Copies, because the frame's buffer is not kept.
      return { channelId: toHex(channel), ceiling, signature: Uint8Array.from(signature) }
    }
  } catch {
    // The error below covers it. The detail of a peer's invalid bytes is of no use.
  }
  throw new SoukError('payment_malformed', 'The authorization of the call is not valid.')
}

/** The maximum of a signed 64-bit column, far above the total USDC supply. */
export const CEILING_MAX: bigint = 2n ** 63n - 1n
