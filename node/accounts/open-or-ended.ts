import type { Documents } from '../../lib/interface/index.ts'

/** Where the document of a payment is: in `open`, then in both, then in `ended`. A process may die while it is in both. */
export interface PaymentCollections {
  readonly open: string
  readonly ended: string
}

/** The current document of a payment. One that moves between two reads is in `ended` afterwards. */
export async function openOrEnded(
  documents: Pick<Documents, 'get'>,
  { open, ended }: PaymentCollections,
  key: string
): Promise<string | undefined> {
  const read = (collection: string) => documents.get(collection, key)
  return (await read(ended)) ?? (await read(open)) ?? (await read(ended))
}
