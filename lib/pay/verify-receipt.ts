import { SoukError } from '../base/errors.ts'
import type { ChannelConfig } from '../interface/channel.ts'
import type { ChainParameters } from '../interface/network.ts'
import { type ReceiptBody, readReceipt, ReceiptCheck, receiptDigests } from './signing/receipt.ts'
import { settlementDomain } from './signing/settlement-domain.ts'

/**
 * Checks a receipt without a node: its signature is of the owner of the channel that it names.
 *
 * @param receipt the bytes that the owner sent, `souk.Receipt` of `docs/reference/souk-pay.proto`
 * @param config of the channel. It determines the channel's id and the owner's key, so nobody can swap the key
 * @throws SoukError `invalid_request` with what is wrong
 */
export function verifyReceipt(
  receipt: Uint8Array,
  config: ChannelConfig,
  chain: Pick<ChainParameters, 'chainId' | 'settlement'>
): ReceiptBody {
  const must = (holds: boolean, otherwise: string): void => {
    if (!holds) throw new SoukError('invalid_request', otherwise)
  }
  const read = readReceipt(receipt)
  if (read === undefined) throw new SoukError('invalid_request', 'The receipt cannot be read.')
  const { chainId, settlement } = chain
  const domain = settlementDomain({ chainId, address: settlement.address })
  must(domain.channelId(config) === read.body.channelId, 'The receipt is of another channel.')
  const isSigned = new ReceiptCheck(receiptDigests(chain)).isSigned(read, config.receiverAuthorizer)
  must(isSigned, 'The receipt is not signed by the owner of the channel.')
  return read.body
}
