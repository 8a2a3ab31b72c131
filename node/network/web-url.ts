import { isLoopback } from '../http/loopback.ts'

/** https without credentials, or http on loopback: nobody on the way can change what it returns. */
export function isWebUrl(text: string): boolean {
  const url = URL.parse(text)
  if (url?.username !== '' || url.password !== '') return false
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname))
}
