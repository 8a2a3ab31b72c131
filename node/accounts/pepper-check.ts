import { createHmac } from 'node:crypto'
import type { Documents } from '../../lib/interface/index.ts'
import { SetupError } from '../setup-error.ts'

export interface PepperCheckInit {
  readonly documents: Documents
  readonly secret: Uint8Array
  readonly network: string
  /** Where this node keeps the secret. */
  readonly path: string
}

const COLLECTION = 'consumer-keys-shared'
const KEY = 'made-with'

/**
 * Nodes that share keys have to hash them alike, and be of one network: the first one leaves a mark in the store that the others
 * compare.
 * @throws SetupError `config_invalid`, with what to do
 */
export async function checkPepper({ documents, secret, network, path }: PepperCheckInit): Promise<void> {
  const check = createHmac('sha256', secret).update('souk shared keys 1').digest('hex')
  if (await documents.insert(COLLECTION, KEY, JSON.stringify({ network, check }))) return
  const made = JSON.parse((await documents.get(COLLECTION, KEY)) ?? '{}') as { network?: string; check?: string }
  if (made.network !== network) {
    throw new SetupError('config_invalid', `The shared store belongs to the network ${made.network}.`, {
      hint: 'another database, or another schema, for each network'
    })
  }
  if (made.check === check) return
  throw new SetupError(
    'config_invalid',
    'The keys in the shared store were made with another secret than this node has.',
    {
      hint: `stop this node and copy the file "pepper" from the profile of a node that uses the store to ${path}`
    }
  )
}
