import { utf8 } from '../../lib/base/bytes.ts'
import { SoukError } from '../../lib/base/errors.ts'
import { RESPONSE_BYTES_MAX } from '../../lib/base/limits.ts'
import type {
  Adapter,
  AdapterReply,
  AdapterRequest,
  ApiDescription,
  UpstreamConfig
} from '../../lib/interface/adapter.ts'
import { headerOf, jsonText, parseJson, wholeBody } from '../json.ts'
import { parseEndpoint } from '../upstream-target.ts'
import { createUpstream, type Upstream, type UpstreamResponse } from '../upstream.ts'
import { addressOf } from './address.ts'
import { canonicalDecimal, plainDecimal } from './decimal.ts'
import { Decoder } from './decode.ts'
import { isObject, type JsonObject } from './encoding.ts'
import { envelopeHeaders, readEnvelope, writeEnvelope } from './envelope.ts'
import { faultError, faultIn } from './fault.ts'
import type { SoapOperation } from './operations.ts'
import { selectOperation } from './select.ts'
import type { SoapService } from './service.ts'
import { XmlError } from './xml-error.ts'
import { decodeXml } from './xml-text.ts'
import { type XmlElement, elements, parseXml } from './xml-tree.ts'

const JSON_TYPE = 'application/json'
const XML_TYPE = /^\s*(?:(?:text|application)\/xml|application\/[\w.-]+\+xml)\s*(?:;|$)/i
/** Headers of the consumer that mean the same to the service. */
const PASSED_ON: ReadonlySet<string> = new Set(['traceparent', 'idempotency-key', 'accept-language'])

/** Turns JSON calls into SOAP requests, and SOAP answers into JSON. */
export class SoapAdapter implements Adapter {
  readonly protocol = 'SOAP'
  readonly description: ApiDescription
  readonly #service: SoapService
  readonly #endpoint: URL
  readonly #decoder: Decoder
  readonly #upstreams = new Map<string, Upstream>()

  /** @throws SoukError `invalid_request` for an endpoint or time limit that cannot be used. */
  constructor(config: UpstreamConfig, service: SoapService, description: ApiDescription) {
    this.#endpoint = parseEndpoint(config.endpoint)
    this.#service = service
    this.description = description
    this.#decoder = new Decoder(service.types)
    for (const { address } of service.operations.values()) {
      const { url } = addressOf(this.#endpoint, address)
      if (!this.#upstreams.has(url))
        this.#upstreams.set(url, createUpstream({ ...config, endpoint: url, shownAs: 'The API' }))
    }
  }

  async call(request: AdapterRequest, signal: AbortSignal): Promise<AdapterReply> {
    if (request.method !== 'POST') throw new SoukError('method_not_allowed', 'A SOAP API is called by POST.')
    if (request.path !== '')
      throw new SoukError('invalid_request', 'A SOAP API has no sub-paths: name the operation in the body.')
    const body = jsonText(await wholeBody(request.body), headerOf(request.headers, 'content-type'))
    const { operation, parameters } = selectOperation(this.#service.operations, parseCall(body))
    const { version } = operation
    const document = writeEnvelope(version, operation.input(), parameters, this.#service.types)
    const response = await this.#upstream(operation).request({
      method: 'POST',
      headers: [
        ...envelopeHeaders(version, operation.action),
        ...request.headers.filter(([name]) => PASSED_ON.has(name))
      ],
      body: utf8(document),
      signal
    })
    return this.#reply(operation, response)
  }

  async close(): Promise<void> {
    await Promise.all([...this.#upstreams.values()].map((upstream) => upstream.close()))
  }

  #upstream({ address }: SoapOperation): Upstream {
    const upstream = this.#upstreams.get(addressOf(this.#endpoint, address).url)
    if (upstream === undefined) throw new SoukError('internal_error', 'The operation has no address.')
    return upstream
  }

  async #reply(operation: SoapOperation, response: UpstreamResponse): Promise<AdapterReply> {
    const { status, headers, upstreamMs } = response
    if (status === 402) {
      response.discard()
      throw unreadable(status, 'that it wants a payment of its own')
    }
    const type = headerOf(headers, 'content-type')
    const isXml = type === undefined || XML_TYPE.test(type)
    if (!isXml && status < 300) {
      response.discard()
      throw unreadable(status, `with ${type.split(';', 1)[0]?.trim().slice(0, 80)} instead of a SOAP envelope`)
    }
    const bytes = await response.bytes(RESPONSE_BYTES_MAX)
    if (status >= 300) {
      const fault = isXml ? faultWithin(bytes, type) : undefined
      if (fault !== undefined) throw faultError(fault, this.#decoder, operation.faults)
      // Not an answer of the SOAP service, but of something before it: passed on as it is.
      return { status, headers, body: bytes, success: false, upstreamMs }
    }
    const body = utf8(JSON.stringify(this.#json(operation, bytes, response, type)))
    return { status: 200, headers: [['content-type', JSON_TYPE]], body, success: true, upstreamMs }
  }

  #json(operation: SoapOperation, bytes: Uint8Array, { status }: UpstreamResponse, type: string | undefined): unknown {
    // SOAP 1.1, section 6.2, and WS-I R2714: a one-way operation is answered without an envelope.
    if (bytes.length === 0 && (operation.output === undefined || status === 202)) return {}
    const body = bodyOf(bytes, type, status)
    const fault = faultIn(body)
    if (fault !== undefined) throw faultError(fault, this.#decoder, operation.faults)
    return this.#content(operation, body)
  }

  #content(operation: SoapOperation, body: XmlElement): unknown {
    const message = operation.output?.()
    if (message === undefined) return {}
    const { wrapper, content } = message
    if (wrapper === undefined) return this.#decoder.complex(content, body)
    const [element] = elements(body)
    if (element === undefined) throw unreadable(200, 'with an empty SOAP body')
    // In rpc style the name of the response element does not matter (WSDL 1.1, section 3.5).
    if (operation.style === 'document' && element.name !== wrapper.name) {
      throw unreadable(200, `with <${element.name.slice(0, 80)}> where <${wrapper.name}> belongs`)
    }
    return this.#decoder.element(wrapper, element) ?? {}
  }
}

/** The fault in an error's document, if it is one. */
function faultWithin(bytes: Uint8Array, type: string | undefined): XmlElement | undefined {
  try {
    return faultIn(readEnvelope(parseXml(decodeXml(bytes, type))))
  } catch (error) {
    if (error instanceof XmlError) return undefined
    throw error
  }
}

function unreadable(status: number, how: string, cause?: unknown): SoukError {
  return new SoukError('upstream_invalid_response', `The SOAP service answered (HTTP ${status}) ${how}.`, {
    source: 'upstream',
    cause
  })
}

function bodyOf(bytes: Uint8Array, type: string | undefined, status: number): XmlElement {
  try {
    return readEnvelope(parseXml(decodeXml(bytes, type)))
  } catch (error) {
    if (!(error instanceof XmlError)) throw error
    throw unreadable(status, `with a document that ${error.message}`, error)
  }
}

/**
 * A number with more digits than a double holds becomes a string with all of them, which every numeric type accepts. Looked
 * for only where a run of digits is long enough, because a reviver makes parsing several times slower.
 */
function parseCall(text: string): JsonObject {
  const call = /[\d.]{16}/.test(text) || /\de/i.test(text) ? parseJson(text, exactNumber) : parseJson(text)
  if (!isObject(call)) {
    throw new SoukError('invalid_request', 'The body must be a JSON object with the operation and its parameters.')
  }
  return call
}

function exactNumber(_key: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== 'number' || context?.source === undefined) return value
  const canonical = canonicalDecimal(context.source)
  return canonical === undefined || plainDecimal(value) === canonical ? value : context.source
}
