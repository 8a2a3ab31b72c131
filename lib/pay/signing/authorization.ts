import { SoukError } from '../../base/errors.ts'
import { bytes, hex, named, uint64 } from '../../base/wire/field.ts'
import { message } from '../../base/wire/message.ts'
import type { Voucher } from '../../interface/channel.ts'

const CHANNEL_ID_BYTES = 32

export const AUTHORIZATION = message(
  'Authorization',
  `Field \`authorization\` of a call: the payer's highest voucher, EIP-712 Voucher(bytes32 channelId, uint128
  maxClaimableAmount).`,
  { channelId: named('channel', hex(1, CHANNEL_ID_BYTES)), ceiling: uint64(2), signature: bytes(3) }
)

export function encodeAuthorization(voucher: Voucher): Uint8Array {
  return AUTHORIZATION.encode(voucher)
}

/** Checks only the form; the channel checks the signature. @throws SoukError `payment_malformed` */
export function decodeAuthorization(encoded: Uint8Array): Voucher {
  try {
    const { channelId, ceiling, signature } = AUTHORIZATION.decode(encoded)
    // Copies, because the frame's buffer is not kept.
    if (ceiling <= CEILING_MAX) return { channelId, ceiling, signature: Uint8Array.from(signature) }
  } catch {
    // The error below covers it. The detail of a peer's invalid bytes is of no use.
  }
  throw new SoukError('payment_malformed', 'The authorization of the call is not valid.')
}

/** The maximum of a signed 64-bit column, far above the total USDC supply. */
export const CEILING_MAX: bigint = 2n ** 63n - 1n
