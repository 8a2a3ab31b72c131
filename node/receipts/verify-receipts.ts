import { z } from 'zod'
import { asSoukError, formatRequestId, formatUsdc, type Hex, SoukError } from '../../lib/index.ts'
import { verifyReceipt } from '../../lib/pay/index.ts'
import { NETWORKS } from '../networks.ts'

const HEX = z.custom<Hex>((text) => typeof text === 'string' && /^0x[\da-f]+$/.test(text))
const config = z.object({
  payer: HEX,
  payerAuthorizer: HEX,
  receiver: HEX,
  receiverAuthorizer: HEX,
  token: HEX,
  withdrawDelay: z.int(),
  salt: HEX,
  chain_id: z.int(),
  contract: HEX
})
const receipt = z.object({
  request_id: z.string(),
  api: z.string(),
  charged: z.string(),
  status: z.number(),
  at: z.number(),
  rule: z.string().nullish(),
  channel: z.string().nullable(),
  proof: z.base64().nullable(),
  channel_config: config.nullish()
})
const file = z.object({ receipts: z.array(receipt) })

type ReceiptInFile = z.output<typeof receipt>

/** Whether one receipt of a file is what its owner signed. */
export interface VerifiedReceipt {
  readonly request_id: string
  readonly api: string
  readonly charged: string
  readonly result: 'valid' | 'invalid' | 'skipped'
  /** Address that signed it. */
  readonly signer: string | null
  /** Why it is invalid, or was skipped. */
  readonly detail: string
}

/**
 * Checks the output of `souk receipts --json` offline: each signature, and that each row says what was signed.
 * @throws SoukError `invalid_request` if the text is no such output
 */
export function verifyReceipts(text: string): readonly VerifiedReceipt[] {
  const parsed = file.safeParse(parse(text))
  if (!parsed.success) {
    throw new SoukError(
      'invalid_request',
      'The file has no receipts. Write one with: souk receipts --json > receipts.json'
    )
  }
  return parsed.data.receipts.map(verified)
}

function verified(row: ReceiptInFile): VerifiedReceipt {
  const { request_id, api, charged, proof, channel_config: channel } = row
  const found = (result: VerifiedReceipt['result'], detail: string): VerifiedReceipt => {
    return { request_id, api, charged, result, signer: channel?.receiverAuthorizer ?? null, detail }
  }
  if (proof === null) return found('skipped', 'The owner has no proof: the payer does.')
  if (channel === null || channel === undefined) return found('skipped', 'The file does not contain the channel.')
  const { chain_id: chainId, contract: address, ...parts } = channel
  const known = Object.values(NETWORKS).some(({ chain }) => chain.settlement.address === address)
  if (!known) return found('invalid', `${address} is not the channel contract.`)
  try {
    const settlement = { address, codeHash: address }
    const body = verifyReceipt(Buffer.from(proof, 'base64'), parts, { chainId, settlement })
    const differs =
      (formatRequestId(body.requestId) !== request_id && 'request_id') ||
      (body.api !== api && 'api') ||
      (formatUsdc(body.charged) !== charged && 'charged') ||
      (body.status !== row.status && 'status') ||
      (body.rule !== (row.rule ?? undefined) && 'rule') ||
      (row.at !== timeIn(body.requestId) && row.at !== body.at && 'at') ||
      (body.channelId !== row.channel && 'channel')
    return differs === false ? found('valid', '') : found('invalid', `The owner signed another ${differs}.`)
  } catch (error) {
    return found('invalid', asSoukError(error).message)
  }
}

/** The time of a call, from its UUID version 7. Earlier versions wrote the time of the receipt. */
function timeIn(requestId: Uint8Array): number {
  return Buffer.from(requestId).readUIntBE(0, 6)
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
