import { isApiName, limits } from '../../lib/index.ts'

const TRIES_MAX = 99
/** Parts of a host name that say nothing about the API. */
const COMMON_LABELS = new Set(['www', 'api', 'com', 'net', 'org', 'io', 'dev', 'app', 'local', 'localhost'])

/**
 * A valid name for an API: from its title, else from its host.
 * @param isTaken - names that must not be proposed
 */
export async function proposedName(
  title: string,
  endpoint: string,
  isTaken: (name: string) => boolean | Promise<boolean>
): Promise<string> {
  const base = asName(title) ?? asName(hostWords(endpoint)) ?? `api-${new URL(endpoint).port || 'http'}`
  for (let number = 1; number <= TRIES_MAX; number++) {
    const name = number === 1 ? base : `${base}-${number}`
    if (!(await isTaken(name))) return name
  }
  return base
}

/** Undefined if nothing of the text can be used, as in most scripts that are not Latin. */
function asName(text: string): string | undefined {
  const name = text
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/['’]/g, '')
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replace(/^-+/, '')
    .slice(0, limits.PROPOSED_NAME_CHARS_MAX)
    .replace(/-+$/, '')
  return isApiName(name) && /[a-z]/.test(name) ? name : undefined
}

function hostWords(endpoint: string): string {
  const { hostname } = new URL(endpoint)
  // The digits of an address are no name.
  if (!/[a-z]/i.test(hostname) || hostname.startsWith('[')) return ''
  return hostname
    .split('.')
    .filter((label) => !COMMON_LABELS.has(label))
    .join('-')
}
