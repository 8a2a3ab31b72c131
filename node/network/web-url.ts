import { isIP } from 'node:net'

/** https without credentials, or http on loopback: nobody on the way can change what it returns. */
export function isWebUrl(text: string): boolean {
  const url = URL.parse(text)
  if (url?.username !== '' || url.password !== '') return false
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname))
}

export function isLoopback(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, '')
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))
}
