import { isIP } from 'node:net'
import { limits, SoukError } from '../../lib/index.ts'
import type { UpstreamGuard } from '../../lib/interface/index.ts'
import { webhookGuard } from './webhook-guard.ts'

/**
 * Refuses URLs at which no event could ever arrive. The address of a name is checked at each delivery, because it may change.
 *
 * @throws SoukError `invalid_request`
 */
export function checkWebhookUrl(text: string, allowsPrivate: boolean, own: UpstreamGuard | undefined): void {
  const url = URL.parse(text)
  const isKnown = url?.protocol === 'https:' || url?.protocol === 'http:'
  if (!isKnown || text.length > limits.WEBHOOK_URL_CHARS_MAX || url.username !== '' || url.password !== '') {
    throw refuse('A webhook must be an https URL without a user name.')
  }
  if (url.protocol === 'http:' && !allowsPrivate) {
    throw refuse('Events would be sent unencrypted. Give an https URL.')
  }
  if (url.hash !== '') throw refuse('A webhook must be a URL without a fragment (#), which is never sent.')
  const host = url.hostname.replace(/^\[|\]$|\.$/g, '')
  const address = /(^|\.)localhost$/.test(host) ? '127.0.0.1' : host
  if (isIP(address) === 0) return
  const port = Number(url.port) || (url.protocol === 'https:' ? 443 : 80)
  if (own?.refuses(host, address, port) === true) {
    throw refuse('A webhook cannot be an address of this node itself, or of a service that it uses.')
  }
  if (webhookGuard(own, allowsPrivate).refuses(host, address, port)) {
    throw refuse(
      'This address is on this machine or a private network. Allow private addresses for this webhook, or give a public URL.'
    )
  }
}

function refuse(detail: string): SoukError {
  return new SoukError('invalid_request', detail)
}
