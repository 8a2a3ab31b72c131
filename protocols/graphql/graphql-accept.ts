/** The media type of "GraphQL over HTTP". With it, the HTTP status tells if the request was well formed. */
export const RESPONSE_TYPE = 'application/graphql-response+json'
export const JSON_TYPE = 'application/json'
export const EVENT_STREAM = 'text/event-stream'
export const MIXED = 'multipart/mixed'

/** The formats that a consumer's HTTP client accepts, by its `Accept` header (RFC 9110 §12.5.1). */
export interface Accepted {
  /** The preferred JSON type; the older one if there is no preference. */
  readonly json: typeof RESPONSE_TYPE | typeof JSON_TYPE
  readonly events: boolean
  /** True if only events are accepted: a single result is then sent as an event as well. */
  readonly eventsOnly: boolean
  /** Results of a subscription in parts, by Apollo's multipart protocol. */
  readonly partedEvents: boolean
  /** Results in parts, as for `@defer` and `@stream`: the original range with its parameters. */
  readonly mixed: string | undefined
}

interface Range {
  readonly type: string
  readonly text: string
  readonly quality: number
}

export function acceptedIn(header = ''): Accepted {
  const ranges = header
    .split(',')
    .map(rangeOf)
    .filter(({ type, quality }) => type !== '' && quality > 0)
  const qualityOf = (...types: string[]): number =>
    Math.max(0, ...ranges.filter(({ type }) => types.includes(type)).map(({ quality }) => quality))
  const modern = qualityOf(RESPONSE_TYPE)
  const older = qualityOf(JSON_TYPE)
  const order = ranges.findIndex(({ type }) => type === RESPONSE_TYPE || type === JSON_TYPE)
  const isModern = modern > 0 && (modern > older || (modern === older && ranges[order]?.type === RESPONSE_TYPE))
  const events = qualityOf(EVENT_STREAM) > 0
  const mixed = ranges.find(({ type }) => type === MIXED)
  return {
    json: isModern ? RESPONSE_TYPE : JSON_TYPE,
    events,
    eventsOnly: events && mixed === undefined && qualityOf(RESPONSE_TYPE, JSON_TYPE, 'application/*', '*/*') === 0,
    partedEvents: /;\s*subscriptionspec=/i.test(mixed?.text ?? ''),
    mixed: mixed?.text
  }
}

/**
 * The `Accept` header for the upstream: the consumer's preferred type first, then the other one for servers that support only
 * that.
 */
export function askedFor({ json, mixed }: Accepted): string {
  const both = json === RESPONSE_TYPE ? `${RESPONSE_TYPE}, ${JSON_TYPE};q=0.9` : `${JSON_TYPE}, ${RESPONSE_TYPE};q=0.9`
  return mixed === undefined ? both : `${mixed}, ${both}`
}

function rangeOf(text: string): Range {
  const [type = '', ...parameters] = text.split(';').map((part) => part.trim())
  const weight = parameters.map((parameter) => /^q\s*=\s*([\d.]+)$/i.exec(parameter)?.[1]).find((q) => q !== undefined)
  const kept = parameters.filter((parameter) => !/^q\s*=/i.test(parameter))
  return {
    type: type.toLowerCase(),
    text: [type, ...kept].join('; '),
    quality: weight === undefined ? 1 : Number(weight)
  }
}
