/** The media type of "GraphQL over HTTP", under which a status says whether the request was one. */
export const RESPONSE_TYPE = 'application/graphql-response+json'
export const JSON_TYPE = 'application/json'
export const EVENT_STREAM = 'text/event-stream'
export const MIXED = 'multipart/mixed'

/** What a consumer's HTTP client can read, as its `Accept` header says (RFC 9110 §12.5.1). */
export interface Accepted {
  /** Of the two JSON types the one it would rather have; the older where it does not say. */
  readonly json: typeof RESPONSE_TYPE | typeof JSON_TYPE
  readonly events: boolean
  /** Nothing but events: also one result is sent as one. */
  readonly eventsOnly: boolean
  /** Results in parts, as `@defer` and `@stream` make them: the range as it was written, with its parameters. */
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
    mixed: mixed?.text
  }
}

/** What the upstream is asked for: the type the consumer reads first, the other one for servers that know only that. */
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
