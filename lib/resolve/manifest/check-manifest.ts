import { isApiName, isProviderId } from '../../base/api-name.ts'
import { SoukError } from '../../base/errors.ts'
import { isExtraHeader } from '../../base/extra-header.ts'
import { checkRateLimit } from '../../base/gcra.ts'
import { isHex } from '../../base/hex.ts'
import { EVENTS_INCLUDED_MAX, JSON_DEPTH_MAX } from '../../base/limits/call.ts'
import {
  MANIFEST_TTL_MS,
  PRICE_ATOMS_MAX,
  SELF_REPORT_CALLS_MAX,
  SELF_REPORT_DAYS_MAX,
  SELF_REPORT_MS_MAX
} from '../../base/limits/directory.ts'
import { DESCRIPTION_DOCUMENTS_MAX, OPERATIONS_PER_PAGE, SDL_PARTS_MAX } from '../../base/limits/descriptions.ts'
import {
  API_NAME_CHARS_MAX,
  DESCRIPTION_CHARS_MAX,
  OPERATIONS_MAX,
  TAG_CHARS_MAX,
  TAGS_MAX
} from '../../base/limits/names.ts'
import type { DescriptionRoot } from '../../interface/published-api.ts'
import { LISTING_MOVES, type Manifest } from '../../interface/manifest.ts'
import { checkPlans } from './check-plans.ts'
import { isShallow } from './manifest-codec.ts'

/** Terminals and pages show these texts, so control characters are not allowed, except tab and line ends. */
// oxlint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/

/** Checks the rules that do not depend on the time. @throws SoukError `invalid_request` saying what is wrong */
export function checkManifest(manifest: Manifest): void {
  const { name, provider, protocol, currency, state, revision, issuedAt, expiresAt, price, description, payout } =
    manifest
  must(
    isApiName(name),
    `its name must be a-z, 0-9 and "-", at most ${API_NAME_CHARS_MAX} characters, not starting with "-"`
  )
  must(isProviderId(provider), 'its provider is not a provider id')
  must(PROTOCOL.test(protocol), 'its protocol must be a letter, then at most 31 letters, digits, "+", "-" or "."')
  must(currency === 'USDC', 'its currency must be USDC')
  must(Object.hasOwn(LISTING_MOVES, state), 'its state is unknown')
  must(payout === undefined || isAddress(payout), 'its payout is not an address in lower case')
  must(price >= 0n && price <= PRICE_ATOMS_MAX, 'its price is out of range')
  must(Number.isSafeInteger(revision) && revision >= 1, 'its revision must be 1 or more')
  must(Number.isSafeInteger(issuedAt) && Number.isSafeInteger(expiresAt) && issuedAt >= 0, 'its times are out of range')
  must(issuedAt < expiresAt && expiresAt - issuedAt <= MANIFEST_TTL_MS, 'its validity is too long or empty')
  must(description.length <= DESCRIPTION_CHARS_MAX, `its description is over ${DESCRIPTION_CHARS_MAX} characters`)
  must(!CONTROL.test(description), 'its description has control characters')
  if (manifest.rateLimit !== undefined) checkRateLimit(manifest.rateLimit)
  checkEvents(manifest)
  checkSelfReport(manifest)
  must((manifest.api.requestHeaders ?? []).every(isExtraHeader), 'it names a header that cannot be forwarded')
  checkTags(manifest.tags)
  checkOperations(manifest)
  checkPlans(manifest, must, (text) => !CONTROL.test(text))
}

/** The form of a URL scheme. The owner may use a protocol that this version does not know. */
const PROTOCOL = /^[a-z][a-z\d+.-]{0,31}$/i

const ADDRESS_BYTES = 20

function isAddress(text: string): boolean {
  return isHex(text, ADDRESS_BYTES) && text === text.toLowerCase()
}

function checkEvents({ events, protocol }: Manifest): void {
  if (events === undefined) return
  const { price, included } = events
  must(protocol !== 'SOAP', 'a SOAP API cannot have a price per event')
  must(price > 0n && price <= PRICE_ATOMS_MAX, 'its price for events is out of range')
  must(
    Number.isSafeInteger(included) && included >= 0 && included <= EVENTS_INCLUDED_MAX,
    `its included events must be 0 to ${EVENTS_INCLUDED_MAX}`
  )
}

function checkSelfReport({ selfReport, issuedAt }: Manifest): void {
  if (selfReport === undefined) return
  const { until, days, calls, goodPerMille, p50Ms = 1, p95Ms = p50Ms } = selfReport
  const isWithin = (value: number, min: number, max: number) =>
    Number.isSafeInteger(value) && value >= min && value <= max
  must(isWithin(until, 1, issuedAt), 'its self-report ends in the future')
  must(isWithin(days, 1, SELF_REPORT_DAYS_MAX), `its self-report must cover 1 to ${SELF_REPORT_DAYS_MAX} days`)
  must(isWithin(calls, 1, SELF_REPORT_CALLS_MAX), 'the calls of its self-report are out of range')
  must(isWithin(goodPerMille, 0, 1_000), 'the success of its self-report is out of range')
  must(
    isWithin(p50Ms, 1, p95Ms) && isWithin(p95Ms, 1, SELF_REPORT_MS_MAX),
    'the times of its self-report are out of range'
  )
}

function checkTags(tags: readonly string[]): void {
  must(tags.length <= TAGS_MAX, `it has more than ${TAGS_MAX} tags`)
  must(new Set(tags).size === tags.length, 'it has a tag twice')
  for (const tag of tags) {
    must(tag.length > 0 && tag.length <= TAG_CHARS_MAX, `a tag must have 1 to ${TAG_CHARS_MAX} characters`)
    must(!CONTROL.test(tag) && tag.trim() === tag, 'a tag has control characters or spaces around it')
  }
}

function checkOperations({ api, protocol }: Manifest): void {
  must(api.operations.length <= OPERATIONS_MAX, `it has more than ${OPERATIONS_MAX} operations`)
  must(api.sdl === undefined || protocol === 'GraphQL', 'only a GraphQL API can have an SDL')
  const names = new Set<string>()
  for (const { name, description = '', input, output } of api.operations) {
    must(name !== '' && !CONTROL.test(name), 'an operation has no name, or control characters in it')
    must(!names.has(name), 'two of its operations have the same name')
    must(!CONTROL.test(description), 'the description of an operation has control characters')
    must(isShallow(input) && isShallow(output), `a schema nests deeper than ${JSON_DEPTH_MAX}`)
    names.add(name)
  }
  if (api.described !== undefined) checkRoot(api.described, protocol)
}

function checkRoot({ root, documents, operations, sdlParts }: DescriptionRoot, protocol: string): void {
  const isWithin = (value: number, max: number) => Number.isSafeInteger(value) && value >= 0 && value <= max
  must(isHex(root, ROOT_BYTES), 'the root of its description is no hash')
  must(isWithin(operations, OPERATIONS_MAX), `it has more than ${OPERATIONS_MAX} operations`)
  must(isWithin(sdlParts, protocol === 'GraphQL' ? SDL_PARTS_MAX : 0), 'its SDL has too many parts')
  const least = Math.ceil(operations / OPERATIONS_PER_PAGE) + operations + sdlParts
  must(
    isWithin(documents, DESCRIPTION_DOCUMENTS_MAX) && documents >= least,
    'its description has too many or too few documents'
  )
  must(documents > 0, 'its description is empty')
}

/** SHA-256. */
const ROOT_BYTES = 32

function must(holds: boolean, otherwise: string): void {
  if (!holds) throw new SoukError('invalid_request', `The manifest is invalid: ${otherwise}.`)
}
