import { deflateRawSync, inflateRawSync } from 'node:zlib'
import { z } from 'zod'
import { limits, text } from '../../lib/index.ts'
import type { Network } from '../networks.ts'
import { SetupError } from '../setup-error.ts'
import { isUrl, loadNetworkFile } from './fetch-network-file.ts'
import { readNetworkFile } from './network-file.ts'
import { isPeerAddress, type NetworkFile } from './network-file-schema.ts'
import { networkOf } from './network-of.ts'

/** What an invitation says. */
export interface Invitation {
  readonly network: Network
  /** Where newer revisions of the network file are. */
  readonly url?: string
  /** Multiaddrs of peers, besides those in the file. */
  readonly peers: readonly string[]
}

/** The founder’s peer id, and after it the place of the network file or the file itself. */
const LINE = /^["']?(12D3KooW[1-9A-HJ-NP-Za-km-z]+)@(\S+?)["']?$/

const contentSchema = z.strictObject({
  file: z.unknown(),
  url: z.string().max(limits.NETWORK_CHOICE_CHARS_MAX).optional(),
  peers: z.array(z.string().refine(isPeerAddress)).max(limits.NETWORK_BOOTSTRAP_MAX)
})

/** One word without spaces or quotes. It contains the file, unless the file has a place on the web and names peers itself. */
export function formatInvitation(file: NetworkFile, { url, peers }: Omit<Invitation, 'network'>): string {
  if (url !== undefined && (peers.length === 0 || file.bootstrap.length > 0)) return `${file.founder}@${url}`
  const content = JSON.stringify({ file, peers, ...(url === undefined ? {} : { url }) })
  return `${file.founder}@${deflateRawSync(content).toString('base64url')}`
}

/**
 * Reads an invitation, or the path or URL of a network file.
 * @throws SetupError `network_invalid` if it is damaged, or if the file is not by the founder that the invitation names
 */
export async function readInvitation(line: string): Promise<Invitation> {
  if (line.length > limits.INVITATION_CHARS_MAX) throw damaged()
  // The line may be pasted with its command. Mail programs and terminals break long lines.
  const pasted = line.trim().replace(/^(?:souk join\s+)+/, '')
  const [, founder, place] = LINE.exec(pasted.replaceAll(/\s/g, '')) ?? []
  if (founder === undefined || place === undefined) {
    if (/^["']?12D3KooW/.test(pasted)) throw damaged()
    return fromPlace(pasted)
  }
  const invitation = isUrl(place) ? await fromPlace(place) : await fromContent(place)
  const actual = invitation.network.file?.founder
  if (actual === founder) return invitation
  throw new SetupError('network_invalid', `The network file is by ${actual}, and the invitation is by ${founder}.`, {
    hint: 'a new invitation, from somebody you trust'
  })
}

async function fromPlace(place: string): Promise<Invitation> {
  const network = networkOf(await readNetworkFile(await loadNetworkFile(place)))
  return { network, peers: [], ...(isUrl(place) ? { url: place } : {}) }
}

async function fromContent(packed: string): Promise<Invitation> {
  const { file, peers, url } = unpack(packed)
  const network = networkOf(await readNetworkFile(JSON.stringify(file)))
  return { network, peers, ...(url === undefined ? {} : { url }) }
}

function unpack(packed: string): z.output<typeof contentSchema> {
  try {
    const bytes = inflateRawSync(Buffer.from(packed, 'base64url'), {
      maxOutputLength: 2 * limits.NETWORK_FILE_BYTES_MAX
    })
    return contentSchema.parse(JSON.parse(text(bytes)))
  } catch {
    throw damaged()
  }
}

function damaged(): SetupError {
  return new SetupError('network_invalid', 'The invitation is damaged. Copy the whole line.')
}
