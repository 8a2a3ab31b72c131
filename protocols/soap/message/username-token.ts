import { createHash } from 'node:crypto'
import { type Clock, systemClock } from '../../../lib/base/clock.ts'
import { type Random, systemRandom } from '../../../lib/base/random.ts'
import type { UpstreamAuth } from '../../../lib/interface/adapter.ts'
import type { XmlWriter } from '../xml/write.ts'

export type UsernameToken = NonNullable<UpstreamAuth['usernameToken']>

const OASIS = 'http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss'
/** The namespace of WS-Security. */
export const WSSE = `${OASIS}-wssecurity-secext-1.0.xsd`
const WSU = `${OASIS}-wssecurity-utility-1.0.xsd`
const PROFILE = `${OASIS}-username-token-profile-1.0`
const BASE64 = `${OASIS}-soap-message-security-1.0#Base64Binary`
const NONCE_BYTES = 16

/**
 * Writes the WS-Security header with user name and password (UsernameToken Profile 1.0, section 3), as text or as a digest with
 * nonce and time. Must be called within the open header.
 * @param envelope namespace of its `mustUnderstand`
 */
export function writeUsernameToken(
  writer: XmlWriter,
  envelope: string,
  { username, password, digest = false }: UsernameToken,
  { clock = systemClock, random = systemRandom }: { readonly clock?: Clock; readonly random?: Random } = {}
): void {
  const nonce = random.fill(new Uint8Array(NONCE_BYTES))
  const created = new Date(clock.now()).toISOString()
  writer.open(WSSE, 'Security')
  writer.attribute(envelope, 'mustUnderstand', '1')
  writer.open(WSSE, 'UsernameToken')
  text(writer, WSSE, 'Username', username)
  writer.open(WSSE, 'Password')
  writer.attribute('', 'Type', `${PROFILE}#${digest ? 'PasswordDigest' : 'PasswordText'}`)
  // The profile requires SHA-1. Over TLS the digest is as secure as the text.
  const proof = () => createHash('sha1').update(nonce).update(created).update(password).digest('base64')
  writer.text(digest ? proof() : password)
  writer.close()
  if (digest) {
    writer.open(WSSE, 'Nonce')
    writer.attribute('', 'EncodingType', BASE64)
    writer.text(Buffer.from(nonce).toString('base64'))
    writer.close()
    text(writer, WSU, 'Created', created)
  }
  writer.close()
  writer.close()
}

function text(writer: XmlWriter, namespace: string, name: string, value: string): void {
  writer.open(namespace, name)
  writer.text(value)
  writer.close()
}
