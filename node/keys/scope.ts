import { formatApiRef, limits, parseApiRef, SoukError } from '../../lib/index.ts'
import type { ApiRef } from '../../lib/interface/index.ts'

/**
 * Validates the APIs that a key may call: `name@provider`, or a name, which allows any provider. Removes duplicates.
 * @throws SoukError `invalid_request`
 */
export function checkScope(apis: readonly string[]): readonly string[] {
  if (apis.length === 0) {
    throw new SoukError('invalid_request', 'The list of APIs is empty. Omit it to allow all APIs.')
  }
  if (apis.length > limits.KEY_APIS_MAX) {
    throw new SoukError('invalid_request', `A key may name at most ${limits.KEY_APIS_MAX} APIs.`)
  }
  return [...new Set(apis.map((api) => formatApiRef(parseApiRef(api))))].sort()
}

/**
 * Resolves the API of a call. If the key may call the API of one provider only, its plain name means that provider, so that no other
 * provider of the name sees the call.
 * @throws SoukError `key_not_permitted`; `name_conflict` if the key may call several APIs of that name
 */
export function permitted({ apis }: { readonly apis?: readonly string[] }, asked: ApiRef): ApiRef {
  if (apis === undefined) return asked
  const named = apis.map(parseApiRef).filter(({ name }) => name === asked.name)
  const exact = named.filter(({ provider }) => provider !== undefined)
  const isOpen = exact.length < named.length
  if (asked.provider !== undefined) {
    if (isOpen || exact.some(({ provider }) => provider === asked.provider)) return asked
    throw notPermitted(asked)
  }
  const [only, ...others] = exact
  if (isOpen) return asked
  if (only === undefined) throw notPermitted(asked)
  if (others.length === 0) return only
  const detail = `This key may call several APIs named ${asked.name}. Use name@provider.`
  throw new SoukError('name_conflict', detail, { members: { candidates: exact.map(formatApiRef) } })
}

function notPermitted(asked: ApiRef): SoukError {
  return new SoukError('key_not_permitted', `This key may not call ${formatApiRef(asked)}.`)
}
