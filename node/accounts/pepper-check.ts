import { createHmac } from 'node:crypto'
import type { Documents } from '../../lib/interface/index.ts'
import { SetupError } from '../setup-error.ts'

export interface PepperCheckInit {
  readonly documents: Documents
  readonly secret: Uint8Array
  readonly network: string
  /** Path of this node’s secret. */
  readonly path: string
}

const COLLECTION = 'consumer-keys-shared'
const KEY = 'made-with'

/**
 * Nodes that share keys must hash them with the same secret and belong to one network. The first node writes a mark to the store, and the
 * others compare it.
 * @throws SetupError `config_invalid`, with a hint
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
    'The keys in the shared store were hashed with another secret than this node’s.',
    {
      hint: `stop this node and copy the file "pepper" from the profile of a node that uses the store to ${path}`
    }
  )
}
