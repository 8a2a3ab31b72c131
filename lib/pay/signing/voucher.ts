import type { Atoms } from '../../base/money.ts'
import type { ChannelId, Voucher } from '../../interface/channel.ts'
import type { Address, Signer } from '../../interface/signer.ts'
import type { SettlementDomain } from './settlement-domain.ts'
import { signerOf } from './signature.ts'

/** @throws SoukError `settlement_unavailable` if the key is not available now */
export async function signVoucher(
  domain: SettlementDomain,
  signer: Signer,
  channelId: ChannelId,
  ceiling: Atoms
): Promise<Voucher> {
  return { channelId, ceiling, signature: await signer.sign(domain.voucher(channelId, ceiling)) }
}

/** True if the contract would accept this voucher for a channel with this `payerAuthorizer`. */
export function isSound(domain: SettlementDomain, voucher: Voucher, payerAuthorizer: Address): boolean {
  return signerOf(domain.voucher(voucher.channelId, voucher.ceiling), voucher.signature) === payerAuthorizer
}
