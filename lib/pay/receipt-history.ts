import { SoukError } from '../base/errors.ts'
import { CLOCK_SKEW_MS } from '../base/limits/directory.ts'
import { RECEIPT_RECORDS_READ_MAX, RECEIPTS_PAGE_MAX } from '../base/limits/pay.ts'
import { malformed } from '../base/malformed.ts'
import { formatRequestId, madeAt, requestIdBytes } from '../base/request-id.ts'
import type { ChannelConfig, ChannelId } from '../interface/channel.ts'
import type { ReceiptPage, ReceiptQuery, ReceiptRow } from '../interface/receipts.ts'
import type { CallLog, Documents } from '../interface/store.ts'
import { type StoredReceipt, storedReceipt, storedReceipts } from './payer/stored-receipts.ts'
import { PAYER_CHANNELS, readPayerChannel } from './payer/payer-channel.ts'
import { readReceipt, ReceiptCheck } from './signing/receipt.ts'
import type { Digest } from './signing/typed-data.ts'

export interface ReceiptHistoryInit {
  readonly calls: Pick<CallLog, 'recent'>
  readonly documents: Pick<Documents, 'get' | 'last'>
  readonly digest: Digest
}

/** A position in the list with its row, if it has one, and the cursor of the next page. */
interface Place {
  readonly cursor: string
  readonly at: number
  readonly row: ReceiptRow | undefined
}

type Read = (before: string | undefined, limit: number) => Promise<Place[]>

/** Lists paid calls: the payer's receipts, and the owner's records of the same calls. */
export class ReceiptHistory {
  readonly #init: ReceiptHistoryInit

  constructor(init: ReceiptHistoryInit) {
    this.#init = init
  }

  /** @throws SoukError `invalid_request` for an invalid cursor or limit */
  async page(query: ReceiptQuery): Promise<ReceiptPage> {
    const { limit, cursor, since = 0 } = query
    if (!Number.isInteger(limit) || limit < 1 || limit > RECEIPTS_PAGE_MAX) {
      throw new SoukError('invalid_request', `The limit of a page has to be 1 to ${RECEIPTS_PAGE_MAX} receipts.`)
    }
    const read = query.role === 'payer' ? this.#payers() : this.#owners()
    const receipts: ReceiptRow[] = []
    let before = cursor
    for (let left = RECEIPT_RECORDS_READ_MAX; left > 0; left -= RECEIPTS_PAGE_MAX) {
      const places = await read(before, RECEIPTS_PAGE_MAX)
      for (const { cursor, at, row } of places) {
        // A payer's rows are in the order of their times. An owner's are in the order of writing, which is nearly the same.
        if (at < since - CLOCK_SKEW_MS) return { receipts }
        before = cursor
        if (row !== undefined && isWanted(row, query)) receipts.push(row)
        if (receipts.length === limit) return { receipts, next: cursor }
      }
      if (places.length < RECEIPTS_PAGE_MAX) return { receipts }
    }
    return { receipts, ...(before === undefined ? {} : { next: before }) }
  }

  /** This node's payment for one call. Undefined if this node made no such call, or has no receipt yet. */
  async paid(requestId: string): Promise<ReceiptRow | undefined> {
    const kept = await storedReceipt(this.#init.documents, requestId)
    if (kept === undefined) return undefined
    return (await placeOf(kept, new ReceiptCheck(this.#init.digest), (id) => this.#partner(id))).row
  }

  #owners(): Read {
    return async (before, limit) => {
      if (before !== undefined && !/^\d{1,15}$/.test(before)) throw notACursor()
      const from = before === undefined ? {} : { before: Number(before) }
      return (await this.#init.calls.recent({ ...from, limit })).map((call) => {
        const { seq, requestId, api, peer, charged, rule, status, at } = call
        const why = rule === undefined ? {} : { rule }
        const id = formatRequestId(requestId)
        const row = { requestId: id, api, peer, charged, ...why, status, at, signature: 'own' } as const
        return { cursor: String(seq), at, row: charged > 0n ? row : undefined }
      })
    }
  }

  #payers(): Read {
    const check = new ReceiptCheck(this.#init.digest)
    const channels = new Map<ChannelId, Promise<Partner | undefined>>()
    const partner = (channelId: ChannelId) => {
      const found = channels.get(channelId) ?? this.#partner(channelId)
      channels.set(channelId, found)
      return found
    }
    return async (before, limit) => {
      if (before !== undefined && !/^[\da-f-]{36}$/.test(before)) throw notACursor()
      const kept = await storedReceipts(this.#init.documents, { limit, ...(before === undefined ? {} : { before }) })
      return Promise.all(kept.map((receipt) => placeOf(receipt, check, partner)))
    }
  }

  async #partner(channelId: ChannelId): Promise<Partner | undefined> {
    const document = await this.#init.documents.get(PAYER_CHANNELS, channelId)
    if (document === undefined) return undefined
    const { owner, config } = readPayerChannel(channelId, document).info
    return { peer: owner, config }
  }
}

interface Partner {
  readonly peer: string
  readonly config: ChannelConfig
}

async function placeOf(
  { requestId, bytes }: StoredReceipt,
  check: ReceiptCheck,
  partnerOf: (channelId: ChannelId) => Promise<Partner | undefined>
): Promise<Place> {
  const receipt = readReceipt(bytes)
  // Not the receipt's time, which is the owner's word.
  const at = madeAt(requestIdBytes(requestId))
  if (receipt === undefined) return { cursor: requestId, at, row: undefined }
  const { channelId, api, charged, rule, status } = receipt.body
  const partner = await partnerOf(channelId)
  const signature =
    partner === undefined ? 'unknown' : check.isSigned(receipt, partner.config.receiverAuthorizer) ? 'valid' : 'invalid'
  const known = partner ?? {}
  return {
    cursor: requestId,
    at,
    row: { requestId, api, ...known, channelId, charged, ...(rule && { rule }), status, at, signature, proof: bytes }
  }
}

function isWanted(
  { api, at }: ReceiptRow,
  { api: wanted, since = 0, until = Number.POSITIVE_INFINITY }: ReceiptQuery
): boolean {
  const isApi = wanted === undefined || api === wanted || api.startsWith(`${wanted}@`)
  return isApi && at >= since && at < until
}

const notACursor = () => malformed('cursor', 'The cursor is invalid. Use the cursor of an earlier page.')
