import type { Documents } from '../../interface/store.ts'
import type { DocumentPut } from '../../interface/ledger.ts'

/** Collection of receipts by request id, base64. */
export const RECEIPTS = 'receipts'

export interface StoredReceipt {
  /** In its canonical form, which sorts by time. */
  readonly requestId: string
  readonly bytes: Uint8Array
}

export function receiptDocument(requestId: string, bytes: Uint8Array): DocumentPut {
  return { collection: RECEIPTS, key: requestId, value: Buffer.from(bytes).toString('base64') }
}

/** A payer's receipts before the id `before`, newest first. */
export async function storedReceipts(
  documents: Pick<Documents, 'last'>,
  { before, limit }: { readonly before?: string; readonly limit: number }
): Promise<StoredReceipt[]> {
  const page = await documents.last(RECEIPTS, { limit, ...(before === undefined ? {} : { before }) })
  return page.map(({ key, value }) => ({ requestId: key, bytes: Buffer.from(value, 'base64') }))
}

/** One receipt, by its canonical request id. */
export async function storedReceipt(
  documents: Pick<Documents, 'get'>,
  requestId: string
): Promise<StoredReceipt | undefined> {
  const value = await documents.get(RECEIPTS, requestId)
  return value === undefined ? undefined : { requestId, bytes: Buffer.from(value, 'base64') }
}
