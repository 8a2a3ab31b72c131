import { type Answer, bodyOf, headOf } from './answer.ts'
import { checkOptions, type Kinds } from './check-options.ts'
import { type ItemStream, itemStream, type OpenStream } from './item-stream.ts'
import type { PaymentHook } from './payment.ts'
import { atomsOf } from './price.ts'
import { CALL_KINDS, type CallOptions, requestOf } from './request.ts'
import { type Fetch, send } from './send.ts'
import { SoukError } from './souk-error.ts'
import { checkTimeout, timeLimit } from './time-limit.ts'

const RETRIES = 2

export interface ClientInit {
  /** Address of an ingress: `https://ingress.example`, with a path if it has one. */
  readonly ingress: string | URL
  /** The consumer key, sent as `X-Consumer-Key`, never in a URL. Who reads your page reads it: give it a daily cap. */
  readonly key?: string | undefined
  /** Default: the global `fetch`. */
  readonly fetch?: Fetch | undefined
  /** Maximum price of each call in USDC, such as `'0.01'`. Default: the limit of the key; with `payment`, none. */
  readonly maxPrice?: string | undefined
  /** Pays calls by x402. Asked only without a `key`, once a call, after the ingress named the price. */
  readonly payment?: PaymentHook | undefined
  /** Default for calls without a time limit of their own. */
  readonly timeoutMs?: number | undefined
  /** How often a call is sent again after a refusal before anything happened (`not_accepted`): a whole number from 0 on. Default 2. */
  readonly retries?: number | undefined
}

const INIT: Kinds<ClientInit> = {
  ingress: ['string', 'object'],
  key: ['string'],
  fetch: ['function'],
  maxPrice: ['string'],
  payment: ['function'],
  timeoutMs: ['number'],
  retries: ['number']
}

/**
 * Calls APIs through an ingress. Arguments of `call` and `stream`:
 *
 * - `api`: `name`, or `name@provider`; the provider is an id, a domain or an alias of the ingress.
 * - `operation`: its name in the API's listing. `''` for an API without named operations: GraphQL, or REST without OpenAPI.
 * - `input`: the fields of the operation, as a JSON object. With `''`, any JSON, or a body that is sent unchanged: `Blob`, bytes, `FormData`,
 *   `URLSearchParams`, text, or a `ReadableStream`, which cannot be sent again.
 *
 * Every failure is a `SoukError`, but an aborted call rejects with the reason of its signal, and errors by which React ends a render pass.
 */
export interface Client {
  /**
   * Makes a call. @throws SoukError with a code of docs/reference/errors.md or of `ClientErrorCode`: `api_error` for an error status of the
   * API, `price_exceeds_limit` above `maxPrice`, `key_invalid`, `rate_limited`, …
   */
  call<Output = unknown>(
    api: string,
    operation: string,
    input?: unknown,
    options?: CallOptions & { readonly as?: 'json' | undefined }
  ): Promise<Answer<Output>>
  call(
    api: string,
    operation: string,
    input: unknown,
    options: CallOptions & { readonly as: 'text' }
  ): Promise<Answer<string>>
  call(
    api: string,
    operation: string,
    input: unknown,
    options: CallOptions & { readonly as: 'bytes' }
  ): Promise<Answer<Uint8Array>>
  call(
    api: string,
    operation: string,
    input: unknown,
    options: CallOptions & { readonly as: 'stream' }
  ): Promise<Answer<ReadableStream<Uint8Array>>>
  call(api: string, operation: string, input?: unknown, options?: CallOptions): Promise<Answer<unknown>>
  /**
   * Makes a call whose response is read item by item: server-sent events, lines of JSON, results of a GraphQL subscription. Another response
   * is one item. @throws SoukError from the loop: as `call`; `response_broken`; `price_exceeds_limit` if further events cost more than allowed
   */
  stream<Data = unknown>(
    api: string,
    operation: string,
    input?: unknown,
    options?: Omit<CallOptions, 'as'>
  ): ItemStream<Data>
  /**
   * An API with the types that `souk types` wrote: each operation is a function. An API without named operations is a function itself.
   * An operation named `then` is reached by `call` only.
   */
  for<Types extends object>(api: string): TypedApi<Types>
}

type OperationTypes = { readonly input: unknown; readonly output: unknown }
type Typed<Types> = Types extends OperationTypes ? TypedOperation<Types['input'], Types['output']> : never
/** A call without required fields needs no input. */
type Arguments<Input, Options> =
  Partial<Input> extends Input ? [input?: Input, options?: Options] : [input: Input, options?: Options]

/** An operation of `Client.for`. */
export interface TypedOperation<Input, Output> {
  (...given: Arguments<Input, Omit<CallOptions, 'as'>>): Promise<Answer<Output>>
  stream(...given: Arguments<Input, Omit<CallOptions, 'as'>>): ItemStream<Output>
}

/** An API of `Client.for`. */
export type TypedApi<Types> = ('' extends keyof Types
  ? (...given: Parameters<Typed<Types['' & keyof Types]>>) => ReturnType<Typed<Types['' & keyof Types]>>
  : unknown) & { readonly [Name in keyof Types as Exclude<Name, '' | 'then'>]: Typed<Types[Name]> }

/**
 * Makes a client. It opens no connection.
 * @throws SoukError `invalid_request` for an `ingress` that is no http(s) address, a `maxPrice` that is no price, a `timeoutMs` or `retries`
 * out of range, and an option of a wrong name or type
 *
 * @example
 * ```ts
 * import { createClient } from 'souk/client'
 *
 * // In place of an ingress.
 * const headers = { 'Souk-Charged': '0.001', 'X-Request-Id': '0199e2f4' }
 * const fetch = async () => Response.json({ celsius: 7 }, { headers })
 * const client = createClient({ ingress: 'https://ingress.example', key: 'souk_live_key', maxPrice: '0.01', fetch })
 * const { body, charged } = await client.call('weather', 'forecast', { city: 'Oslo' })
 * console.log(body, charged) // { celsius: 7 } 0.001
 * ```
 */
export function createClient(init: ClientInit): Client {
  checkOptions('The options of `createClient`', init, INIT)
  const { key, maxPrice, retries = RETRIES } = init
  const base = baseOf(init.ingress)
  if (maxPrice !== undefined) atomsOf(maxPrice)
  checkTimeout(init.timeoutMs)
  if (!Number.isInteger(retries) || retries < 0) {
    throw new SoukError('invalid_request', '"retries" must be a whole number from 0 on.')
  }
  // Looked up at each call, and called as a function: browsers refuse another `this`.
  const fetch: Fetch = init.fetch ?? ((url, request) => globalThis.fetch(url, request))
  const payment = key === undefined ? init.payment : undefined

  async function open<T>(
    [api, operation, input]: readonly [string, string, unknown],
    given: CallOptions,
    read: (opened: OpenStream) => T | Promise<T>,
    accept?: string
  ): Promise<T> {
    checkOptions('The options of a call', given, CALL_KINDS)
    const options = { ...given, ...(given.maxPrice === undefined && maxPrice !== undefined ? { maxPrice } : {}) }
    const request = requestOf({ base, key, api, operation, input, options, accept })
    const limit = timeLimit(given.timeoutMs ?? init.timeoutMs, given.signal)
    try {
      const response = await send({ fetch, request, limit, retries, payment, maxPrice: options.maxPrice })
      return await read({ head: headOf(response), response })
    } catch (error) {
      // A body that the limit ended is no broken response.
      throw limit.signal.aborted ? limit.signal.reason : error
    } finally {
      limit.clear()
    }
  }

  const call = (api: string, operation: string, input?: unknown, options: CallOptions = {}) =>
    open([api, operation, input], options, async ({ head, response }) => ({
      ...head,
      body: await bodyOf(response, head, options.as)
    }))

  const stream: Client['stream'] = (api, operation, input, options = {}) => {
    return itemStream(() => open([api, operation, input], options, (opened) => opened, STREAMS), options.signal)
  }

  return {
    call: call as Client['call'],
    stream,
    for<Types extends object>(api: string) {
      const operation = (name: string) =>
        Object.assign((input?: unknown, options?: CallOptions) => call(api, name, input, options), {
          stream: (input?: unknown, options?: CallOptions) => stream(api, name, input, options)
        })
      const get = (_: unknown, name: string | symbol) =>
        // `await` asks every object for `then`.
        typeof name === 'symbol' || name === 'then' ? undefined : operation(name)
      return new Proxy(operation(''), { get }) as unknown as TypedApi<Types>
    }
  }
}

const STREAMS = 'text/event-stream, application/x-ndjson;q=0.9, application/json;q=0.8, */*;q=0.5'

/** @throws SoukError `invalid_request` */
function baseOf(ingress: string | URL): string {
  const url = URL.canParse(ingress) ? new URL(ingress) : undefined
  const isHttp = url?.protocol === 'http:' || url?.protocol === 'https:'
  if (
    url === undefined ||
    !isHttp ||
    url.username !== '' ||
    url.password !== '' ||
    url.search !== '' ||
    url.hash !== ''
  ) {
    throw new SoukError('invalid_request', `"ingress" must be an address such as https://ingress.example.`)
  }
  return url.origin + url.pathname.replace(/\/+$/, '')
}
