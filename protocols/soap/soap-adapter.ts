import { SoukError } from '../../lib/base/errors.ts'
import { RESPONSE_BYTES_MAX } from '../../lib/base/limits/call.ts'
import type {
  Adapter,
  Inspection,
  AdapterReply,
  AdapterRequest,
  CallMemory,
  ApiDescription,
  UpstreamConfig
} from '../../lib/interface/adapter.ts'
import { headerOf, wholeBody } from '../json.ts'
import { joined, type UpstreamResponse } from '../upstream/response.ts'
import { createUpstream, type Upstream } from '../upstream/upstream.ts'
import { type Targeting, targetsOf } from './wsdl/address.ts'
import { envelopeHeaders } from './message/envelope.ts'
import { isMultipart } from './message/multipart.ts'
import type { SoapOperation } from './message/operation.ts'
import type { SoapService } from './service.ts'
import { unreadable } from './translation.ts'
import type { Translator } from './translator.ts'

const JSON_TYPE = 'application/json'
const XML_TYPE = /^\s*(?:(?:text|application)\/xml|application\/[\w.-]+\+xml)\s*(?:;|$)/i
/** The part of a response of another type in which the start tag of an envelope is looked for. */
const HEAD_BYTES = 1_024
const HEAD_PIECES = 4
/** The consumer's headers that are forwarded to the service. */
const PASSED_ON: ReadonlySet<string> = new Set(['traceparent', 'idempotency-key', 'accept-language'])

/** Translates JSON calls to SOAP requests, and SOAP responses to JSON. */
export class SoapAdapter implements Adapter {
  readonly protocol = 'SOAP'
  readonly description: ApiDescription
  readonly warnings: readonly string[]
  readonly #service: SoapService
  readonly #translator: Translator
  readonly #target: Targeting
  readonly #upstreams = new Map<string, Upstream>()

  /** @throws SoukError `invalid_request` for an invalid endpoint or time limit */
  constructor(
    config: UpstreamConfig,
    service: SoapService,
    translator: Translator,
    { description, warnings }: Pick<Inspection, 'description' | 'warnings'>
  ) {
    // The WSDL is left out, because the snapshot already contains it.
    const { wsdl: _, ...rest } = config
    const addresses = [...service.operations.values()].map(({ address }) => address)
    this.#target = targetsOf(config, addresses)
    this.#service = service
    this.#translator = translator
    this.description = description
    this.warnings = warnings
    for (const address of addresses) {
      const { url } = this.#target(address)
      if (!this.#upstreams.has(url))
        this.#upstreams.set(url, createUpstream({ ...rest, endpoint: url, shownAs: 'The API' }))
    }
  }

  async call(request: AdapterRequest, signal: AbortSignal): Promise<AdapterReply> {
    if (request.method !== 'POST') throw new SoukError('method_not_allowed', 'A SOAP API is called by POST.')
    if (request.path !== '')
      throw new SoukError('invalid_request', 'A SOAP API has no sub-paths. Name the operation in the body.')
    const body = { bytes: await wholeBody(request), type: headerOf(request.headers, 'content-type') }
    const { operation: name, document, type } = await this.#translator.request(body)
    const operation = this.#service.operations.get(name)
    if (operation === undefined) throw new SoukError('internal_error')
    const response = await this.#upstream(operation).request({
      method: 'POST',
      headers: [
        ...envelopeHeaders(operation.version, operation.action, type),
        ...request.headers.filter(([header]) => PASSED_ON.has(header))
      ],
      body: document,
      signal
    })
    return this.#reply(name, response, request.memory)
  }

  async close(): Promise<void> {
    await Promise.all([this.#translator.close(), ...[...this.#upstreams.values()].map((upstream) => upstream.close())])
  }

  #upstream({ address }: SoapOperation): Upstream {
    const upstream = this.#upstreams.get(this.#target(address).url)
    if (upstream === undefined) throw new SoukError('internal_error', 'The operation has no address.')
    return upstream
  }

  async #reply(operation: string, response: UpstreamResponse, memory: CallMemory | undefined): Promise<AdapterReply> {
    const { status, headers, upstreamMs } = response
    const type = headerOf(headers, 'content-type')
    const isXml = type === undefined || XML_TYPE.test(type) || isMultipart(type)
    const pieces = await response.pieces(RESPONSE_BYTES_MAX, memory)
    // PHP and others send the default type of a page also with no body, in response to a one-way operation.
    const isSoap = isXml || pieces.every(({ length }) => length === 0) || isEnvelope(pieces)
    if (!isSoap && status < 300)
      throw unreadable(status, `with ${type.split(';', 1)[0]?.trim().slice(0, 80)} instead of a SOAP envelope`)
    const body = isSoap ? await this.#translator.reply({ operation, status, type }, pieces) : undefined
    if (body === undefined) return { status, headers, body: joined(pieces), success: false, upstreamMs }
    return { status: 200, headers: [['content-type', JSON_TYPE]], body, success: true, upstreamMs }
  }
}

/** Services of some languages send their envelopes with the default type of a page, such as `text/html`. */
function isEnvelope(pieces: readonly Uint8Array[]): boolean {
  const head = Buffer.from(joined(pieces.slice(0, HEAD_PIECES)).subarray(0, HEAD_BYTES)).toString('latin1')
  return /^(?:\xef\xbb\xbf)?\s*</.test(head) && /[<:]Envelope[\s>]/.test(head)
}
